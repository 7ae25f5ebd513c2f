#include "jobs/capture/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "core/error/error.hpp"
#include "jobs/capture/copy_kernels.hpp"
#include "jobs/capture/device_description.hpp"
#include "jobs/capture/written_program.hpp"
#include "models/isa/interpreter/inexact/float_trace.hpp"
#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/text/assertion.hpp"
#include "models/sm/parameters/occupancy.hpp"

namespace lockstep::capture {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

bool concerns_modules(Operation operation) {
  return operation == Operation::register_module || operation == Operation::find_function ||
         operation == Operation::find_variable;
}

/// Rows of a recording, of which a copy of scattered sums would have one each.
constexpr std::size_t most_inexact_of_a_copy = 1024;

void say(const std::string& what) {
  std::fprintf(stderr, "lockstep capture: %s\n", what.c_str());
}

}  // namespace

Session::Session(const GpuParameters& gpu, const std::string& recording, bool strict)
    : gpu_(gpu),
      memory_(gpu.memory.capacity.count(), strict),
      modules_(memory_, offered_architecture),
      recorder_(recording, memory_) {}

Session::Reply Session::serve(const Request& request, Bytes bytes) {
  Reply reply;
  was_used_ |= request.operation != Operation::hello;
  if (sticky_ != success && request.operation != Operation::hello) {
    reply.answer.status = sticky_;
    return reply;
  }
  try {
    dispatch(request, bytes, reply);
  } catch (const UserError& error) {
    if (!concerns_modules(request.operation)) throw;  // the recording cannot be written
    const bool is_kernel = request.operation == Operation::find_function;
    const std::string why =
        (is_kernel ? "kernel " + demangled(text_of(bytes)) + ": " : "") + error.what();
    say(why);
    reply = {};
    reply.answer.status = no_kernel_image;
    if (!failure_) failure_ = why;
  }
  return reply;
}

void Session::dispatch(const Request& request, Bytes bytes, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  switch (request.operation) {
    case Operation::hello:
      return hello(request, reply);
    case Operation::register_module:
      reply.answer.numbers[0] =
          modules_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      if (n[0] != 0) modules_.read(reply.answer.numbers[0]);
      return;
    case Operation::find_function:
      return find_function(request, bytes, reply);
    case Operation::find_variable:
      return find_variable(request, bytes, reply);
    case Operation::allocate:
      return allocate(request, reply);
    case Operation::release:
      recorder_.synchronize();
      if (!memory_.release(n[0])) reply.answer.status = invalid_value;
      return;
    case Operation::copy_in:
      return copy_in(request, bytes, reply);
    case Operation::copy_out:
      return copy_out(request, reply);
    case Operation::copy_within:
      return copy_within(request, reply);
    case Operation::fill:
      return fill(request, reply);
    case Operation::launch:
      return launch(bytes, reply);
    case Operation::synchronize:
      return n[0] != 0 ? recorder_.synchronize() : recorder_.synchronize(n[1]);
    case Operation::order:
      return recorder_.order(n[0], n[1]);
    case Operation::prefetch:
    case Operation::advise:
      if (memory_.find(n[0], n[1]).empty()) {
        reply.answer.status = invalid_value;
      } else if (request.operation == Operation::advise) {
        recorder_.advise(n[0], n[1], static_cast<Advice>(n[2]));
      } else {
        recorder_.note_cpu_writes();
        recorder_.prefetch(n[0], n[1], n[2] != 0, n[3]);
      }
      return;
    case Operation::touch:
      for (; bytes.size() >= sizeof(Touch); bytes = bytes.subspan(sizeof(Touch))) {
        Touch touch;
        std::memcpy(&touch, bytes.data(), sizeof touch);
        recorder_.touch(touch);
      }
      return;
    case Operation::occupancy:
      return occupancy(request, reply);
    case Operation::memory_left:
      reply.answer.numbers[0] = memory_.capacity() - memory_.used_bytes();
      reply.answer.numbers[1] = memory_.capacity();
      return;
    case Operation::unsupported:
      return unsupported(bytes);
    case Operation::event_time:
      return event_time(request, reply);
  }
  reply.answer.status = unknown_error;
}

void Session::hello(const Request& request, Reply& reply) {
  if (process_ != 0 && process_ != request.numbers[0]) {
    failure_ = "two processes of the program use CUDA - capture each on its own";
    say(*failure_);
    reply.answer.status = initialization_error;
    return;
  }
  process_ = request.numbers[0];
  memory_.begin_at(request.numbers[1]);
  append(reply.bytes, describe_device(gpu_));
}

void Session::find_function(const Request& request, Bytes bytes, Reply& reply) {
  if (request.numbers[1] != 0 && !modules_.has_kernel(request.numbers[0], text_of(bytes))) {
    reply.answer.status = not_found;
    return;
  }
  const std::uint64_t number = modules_.find_kernel(request.numbers[0], text_of(bytes));
  const isa::Program &program = modules_.kernel(number).program(),
                     &lowered = modules_.kernel(number).lowered();
  FunctionDescription description;
  description.function = number;
  description.registers = lowered.registers_per_thread;
  description.shared_bytes = program.static_shared_bytes;
  description.local_bytes = lowered.local_bytes;
  description.maximum_threads =
      program.maximum_threads != 0 ? program.maximum_threads : gpu_.sm.threads_per_block;
  description.architecture = modules_.kernel(number).architecture;
  description.parameters = static_cast<std::uint32_t>(program.parameters.size());
  append(reply.bytes, description);
  for (const isa::KernelParameter& parameter : program.parameters)
    append(reply.bytes, ParameterDescription{parameter.offset, parameter.bytes});
}

void Session::find_variable(const Request& request, Bytes bytes, Reply& reply) {
  if (request.numbers[2] != 0 && !modules_.has_variable(request.numbers[0], text_of(bytes))) {
    reply.answer.status = not_found;
    return;
  }
  const auto variable = modules_.find_variable(request.numbers[0], text_of(bytes));
  if (request.numbers[1] != 0) memory_.share(variable.address);
  reply.answer.numbers[0] = variable.address;
  reply.answer.numbers[1] = variable.bytes;
}

void Session::allocate(const Request& request, Reply& reply) {
  const auto kind = static_cast<MemoryKind>(request.numbers[0]);
  const std::uint64_t address = memory_.allocate(kind, request.numbers[1]);
  if (address == 0) reply.answer.status = memory_allocation;
  if (address != 0 && request.numbers[3] != 0)
    memory_.hide_around(address, request.numbers[2], request.numbers[3]);
  reply.answer.numbers[0] = address;
}

void Session::copy_in(const Request& request, Bytes bytes, Reply& reply) {
  const std::span<std::byte> place = memory_.find(request.numbers[0], bytes.size());
  if (place.empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  std::copy(bytes.begin(), bytes.end(), place.begin());
  copied_bytes_ += bytes.size();
  inexact_.clear(request.numbers[0], bytes.size());
  inexact_copies_.clear(request.numbers[0], bytes.size());
  recorder_.copy_in(request.numbers[0], request.numbers[1], request.numbers[2] != 0, bytes);
}

void Session::copy_out(const Request& request, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  const std::span<std::byte> place = memory_.find(n[0], n[1]);
  if (place.empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  copied_bytes_ += place.size();
  reply.bytes.assign(place.begin(), place.end());
  inexact_copies_.copy(n[0], inexact_, n[0], n[1]);
  recorder_.copy_out(n[0], n[2], n[3] != 0, place,
                     inexact_.ranges(n[0], n[1], most_inexact_of_a_copy));
}

void Session::run_own(const std::string& name, std::uint64_t to, std::uint64_t count,
                      std::uint64_t last, std::uint64_t stream, Reply& reply) {
  constexpr std::uint32_t threads = 256;
  if (count == 0 || reply.answer.status != success) return;
  if (!own_module_) own_module_ = modules_.add_own(copy_kernels);
  const auto& kernel = modules_.kernel(modules_.find_kernel(*own_module_, name));
  std::vector<std::byte> parameters;
  append(parameters, to);
  append(parameters, count);
  append(parameters, last);
  parameters.resize(kernel.program().parameter_bytes);
  LaunchDescription how;
  how.blocks[0] = static_cast<std::uint32_t>((count + threads - 1) / threads);
  how.threads[0] = threads;
  how.stream = static_cast<std::uint32_t>(stream);
  execute(kernel, how, parameters, reply);
}

void Session::copy_within(const Request& request, Reply& reply) {
  const std::uint64_t to = request.numbers[0], from = request.numbers[1];
  const std::uint64_t bytes = request.numbers[2], stream = request.numbers[3];
  if (memory_.find(to, bytes).empty() || memory_.find(from, bytes).empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  const std::uint64_t wide = to % 16 == 0 && from % 16 == 0 ? bytes / 16 : 0;
  run_own("lockstep_copy_16", to, wide, from, stream, reply);
  run_own("lockstep_copy_1", to + 16 * wide, bytes - 16 * wide, from + 16 * wide, stream, reply);
  inexact_.copy(to, inexact_, from, bytes);
}

void Session::fill(const Request& request, Reply& reply) {
  const std::uint64_t to = request.numbers[0], bytes = request.numbers[1];
  const std::uint64_t width = request.numbers[3], stream = request.numbers[4];
  if (memory_.find(to, bytes).empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  constexpr std::uint64_t copies[] = {0, 0x01010101, 0x00010001, 0, 1};  // of a value in 4 bytes
  const std::uint64_t mask = (std::uint64_t{1} << 8 * width) - 1;
  const std::uint64_t value = (request.numbers[2] & mask) * copies[width];
  const std::string single = "lockstep_fill_" + std::to_string(width);
  const std::uint64_t head = std::min(bytes, (16 - to % 16) % 16), wide = (bytes - head) / 16;
  run_own(single, to, head / width, value, stream, reply);
  run_own("lockstep_fill_16", to + head, wide, value, stream, reply);
  const std::uint64_t rest = bytes - head - 16 * wide;
  run_own(single, to + head + 16 * wide, rest / width, value, stream, reply);
  inexact_.clear(to, bytes);
}

void Session::launch(Bytes bytes, Reply& reply) {
  LaunchDescription how;
  std::memcpy(&how, bytes.data(), sizeof how);
  const CapturedModules::Kernel& kernel = modules_.kernel(how.function);
  const isa::Program& program = kernel.program();
  const std::uint64_t threads = std::uint64_t{how.threads[0]} * how.threads[1] * how.threads[2];
  const std::uint64_t blocks = std::uint64_t{how.blocks[0]} * how.blocks[1] * how.blocks[2];
  const bool has_limit = program.maximum_threads != 0 && threads > program.maximum_threads;
  if (threads == 0 || blocks == 0 || threads > gpu_.sm.threads_per_block || has_limit ||
      how.threads[2] > 64 || how.blocks[1] > 65535 || how.blocks[2] > 65535 ||
      (program.required_block[0] != 0 && !std::equal(std::begin(how.threads), std::end(how.threads),
                                                     program.required_block.begin()))) {
    reply.answer.status = invalid_configuration;
    return;
  }
  const BlockResources block =
      block_of(kernel, static_cast<std::uint32_t>(threads), how.shared_bytes);
  if (!why_block_does_not_fit(block, limits_of(gpu_)).empty()) {
    tell_of_refusal(kernel, block);
    reply.answer.status = launch_out_of_resources;
    return;
  }
  tell_of_fewer_registers(kernel, static_cast<std::uint32_t>(threads));
  std::vector<std::byte> parameters(bytes.begin() + sizeof how, bytes.end());
  parameters.resize(program.parameter_bytes);
  execute(kernel, how, parameters, reply);
}

BlockResources Session::block_of(const CapturedModules::Kernel& kernel, std::uint32_t threads,
                                 std::uint32_t shared_bytes) const {
  const OccupancyLimits limits = limits_of(gpu_);
  const BlockResources ours = block_resources(kernel.lowered(), threads, shared_bytes, limits);
  if (ours.registers <= limits.registers) return ours;
  const std::uint32_t fitting = registers_that_fit(threads, limits);
  return block_resources(kernel.lowered(), threads, shared_bytes, limits,
                         modules_.machine_registers(kernel).value_or(fitting));
}

void Session::tell_of_refusal(const CapturedModules::Kernel& kernel, const BlockResources& block) {
  const OccupancyLimits limits = limits_of(gpu_);
  const std::uint32_t warp = block.registers / block.warps;
  const std::string advice =
      block.registers > limits.registers
          ? fmt::format("launch at most {} threads a block, or build it with __launch_bounds__({})",
                        limits.registers / warp * isa::warp_size, block.threads)
          : "make the block or its needs smaller";
  const std::string line = fmt::format(
      "launch of kernel {} refused, as on hardware: {} ({} threads with {} registers each) - {}",
      demangled(kernel.recorded_name), why_block_does_not_fit(block, limits), block.threads,
      warp / isa::warp_size, advice);
  if (told_.insert(line).second) say(line);
}

void Session::tell_of_fewer_registers(const CapturedModules::Kernel& kernel,
                                      std::uint32_t threads) {
  const OccupancyLimits limits = limits_of(gpu_);
  const std::uint32_t fitting = registers_that_fit(threads, limits);
  if (kernel.lowered().registers_per_thread <= fitting) return;
  const std::string line = fmt::format(
      "kernel {} has {} registers a thread here, of which {} fit with blocks of {}: a run keeps "
      "the "
      "rest in local memory",
      demangled(kernel.recorded_name), kernel.lowered().registers_per_thread, fitting, threads);
  if (told_.insert(line).second) say(line);
}

void Session::execute(const CapturedModules::Kernel& kernel, const LaunchDescription& how,
                      Bytes parameters, Reply& reply) {
  recorder_.note_cpu_writes();
  memory_.lowest_stray();  // of copies
  std::vector<std::string> printed, warnings;
  isa::Launch launch{.module = *kernel.module,
                     .kernel = kernel.index,
                     .grid = {how.blocks[0], how.blocks[1], how.blocks[2]},
                     .block = {how.threads[0], how.threads[1], how.threads[2]},
                     .dynamic_shared_bytes = how.shared_bytes,
                     .parameters = {parameters.begin(), parameters.end()},
                     .global_addresses = *kernel.variables,
                     .machine = {.sms = gpu_.sm.count,
                                 .warps_of_an_sm = gpu_.sm.warps,
                                 .turn = gpu_.sm.turn_of_paths()},
                     .printed = &printed,
                     .warnings = &warnings};
  isa::FloatTrace floats(inexact_);
  const bool traces_floats = !kernel.is_ours() && (kernel.adds_floats || !inexact_.empty());
  if (traces_floats) launch.floats = &floats;
  if (races_) launch.races = &races_->of_kernel(kernel.recorded_name);
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto begin = std::chrono::steady_clock::now();
  try {
    warp_instructions_ += isa::interpret(launch, memory_.flat(), threads).warp_instructions;
  } catch (const UserError& error) {
    failure_ = error.what();
    say(*failure_ + " - the recording ends before this launch");
    sticky_ = failure_->ends_with(isa::assertion_advice) ? assertion_failure : launch_failure;
    reply.answer.status = sticky_;
  }
  execution_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (races_) std::fputs(races_->news(kernel.recorded_name, kernel.file, launch).c_str(), stderr);
  for (const std::string& text : printed) reply.printed += text;
  for (const std::string& text : warnings)
    if (warned_.insert(text.substr(0, text.find(": "))).second) say("warning: " + text);
  if (sticky_ != success) return;
  if (traces_floats) inexact_.apply(floats);
  warn_of_strays(kernel.recorded_name);
  recorder_.launch(kernel.recorded_name, how, parameters);
  recorder_.note_gpu_writes();
}

std::vector<isa::InexactFloats> Session::inexact(std::uint64_t address, std::uint64_t bytes,
                                                 std::size_t most) const {
  std::vector<isa::InexactFloats> floats = inexact_.ranges(address, bytes, most);
  for (const isa::InexactFloats& copied : inexact_copies_.ranges(address, bytes, most))
    if (std::find(floats.begin(), floats.end(), copied) == floats.end()) floats.push_back(copied);
  return floats;
}

void Session::warn_of_strays(const std::string& kernel) {
  const auto stray = memory_.lowest_stray();
  if (!stray || !strayed_kernels_.insert(kernel).second) return;
  const DeviceMemory::Buffer& buffer = std::prev(memory_.buffers().upper_bound(*stray))->second;
  say(
      fmt::format("warning: kernel {} uses memory {} bytes behind the {} that were asked for at "
                  "{:#x}; hardware lets it pass - --strict ends the recording there",
                  kernel, *stray - buffer.address - buffer.asked, buffer.asked, buffer.address));
}

void Session::occupancy(const Request& request, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  const BlockResources block = block_of(modules_.kernel(n[0]), static_cast<std::uint32_t>(n[1]),
                                        static_cast<std::uint32_t>(n[2]));
  const bool fits = why_block_does_not_fit(block, limits_of(gpu_)).empty();
  reply.answer.numbers[0] = fits ? blocks_per_sm(block, limits_of(gpu_)) : 0;
}

/// A nanosecond per warp instruction and per 12 bytes copied: time that grows with work, the same
/// each time.
void Session::event_time(const Request& request, Reply& reply) {
  if (request.numbers[0] != 0) ++time_questions_;
  reply.answer.numbers[0] = 1000 + warp_instructions_ + copied_bytes_ / 12;
}

void Session::unsupported(Bytes bytes) {
  const std::string name = text_of(bytes);
  if (std::find(named_unsupported_.begin(), named_unsupported_.end(), name) !=
      named_unsupported_.end())
    return;
  named_unsupported_.push_back(name);
  say(name + " is not there: the program gets cudaErrorNotSupported");
}

}  // namespace lockstep::capture
