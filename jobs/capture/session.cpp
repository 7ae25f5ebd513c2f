#include "jobs/capture/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "core/error/error.hpp"
#include "jobs/capture/broken_request.hpp"
#include "jobs/capture/clusters.hpp"
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

std::string word_of(Operation operation) {
  constexpr const char* words[] = {
      "hello",       "module",     "function",    "variable",      "allocate",  "release",
      "copy in",     "copy out",   "copy",        "fill",          "launch",    "wait",
      "order",       "prefetch",   "advice",      "touch",         "occupancy", "memory left",
      "unsupported", "event time", "peer access", "other runtime", "collective"};
  const auto number = static_cast<std::size_t>(operation);
  return number < std::size(words) ? words[number] : "number " + std::to_string(number);
}

bool concerns_modules(Operation operation) {
  return operation == Operation::register_module || operation == Operation::find_function ||
         operation == Operation::find_variable;
}

/// Most inexact rows of one copy; a copy of scattered sums would have one row for each.
constexpr std::size_t most_inexact_of_a_copy = 1024;

/// Prints a program's text with control characters made visible and "?" for other than ASCII.
void say(const std::string& what) {
  std::string line = UserError("", what, "").what();
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7e; }, '?');
  std::fprintf(stderr, "lockstep capture: %s\n", line.c_str());
}

}  // namespace

Session::Session(const GpuParameters& gpu, const std::string& recording, bool strict,
                 std::uint32_t devices)
    : gpu_(gpu),
      devices_(devices),
      memory_(gpu.memory.capacity.count(), strict),
      modules_(memory_, architecture_of(gpu)),
      recorder_(recording, memory_, devices) {}

Session::Reply Session::serve(const Request& request, Bytes bytes) {
  Reply reply;
  const bool is_about_memory_or_kernels =
      request.operation != Operation::hello && request.operation != Operation::other_runtime;
  was_used_ |= is_about_memory_or_kernels;
  if (sticky_ != success && is_about_memory_or_kernels) {
    reply.answer.status = sticky_;
    return reply;
  }
  try {
    dispatch(request, bytes, reply);
  } catch (const BrokenRequest& error) {
    is_over_ = true;
    failure_ = fmt::format("a request of the program ({}) is none that a CUDA runtime makes: {}",
                           word_of(request.operation), error.what());
    say(*failure_ + " - the recording ends before it");
    reply = {};
    reply.answer.status = unknown_error;
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
  require(bytes.size() == request.bytes, "it is larger than the GPU's memory");
  switch (request.operation) {
    case Operation::hello:
      return hello(request, reply);
    case Operation::register_module:
      return register_module(request, bytes, reply);
    case Operation::find_function:
      return find_function(request, bytes, reply);
    case Operation::find_variable:
      return find_variable(request, bytes, reply);
    case Operation::allocate:
      return allocate(request, reply);
    case Operation::release:
      recorder_.synchronize_all();
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
      return n[0] != 0 ? recorder_.synchronize_device(stream_of(n[1]))
                       : recorder_.synchronize(stream_of(n[1]));
    case Operation::order:
      return recorder_.order(stream_of(n[0]), stream_of(n[1]));
    case Operation::prefetch:
    case Operation::advise:
      return advise_or_prefetch(request, reply);
    case Operation::touch:
      return touch(bytes);
    case Operation::occupancy:
      return occupancy(request, reply);
    case Operation::memory_left:
      reply.answer.numbers[0] = memory_.capacity() - memory_.used_bytes(device_of(n[0]));
      reply.answer.numbers[1] = memory_.capacity();
      return;
    case Operation::unsupported:
      return unsupported(bytes);
    case Operation::event_time:
      return event_time(request, reply);
    case Operation::peer_access:
      return peer_access(request);
    case Operation::other_runtime:
      return other_runtime(request, bytes);
    case Operation::collective:
      return collective(request, bytes, reply);
  }
  throw BrokenRequest("there is no such request");
}

/// Returns the most bytes of a request: no more than the GPU's memory, like fat binaries of
/// libraries.
std::uint64_t Session::largest_request() const {
  constexpr std::uint64_t header = std::uint64_t{1} << 30;
  return memory_.capacity() + header;
}

void Session::hello(const Request& request, Reply& reply) {
  if (process_ != 0) {
    failure_ = "two processes of the program use CUDA - capture each on its own";
    say(*failure_);
    reply.answer.status = initialization_error;
    return;
  }
  require(
      request.numbers[0] != 0 && std::find(std::begin(first_addresses), std::end(first_addresses),
                                           request.numbers[1]) != std::end(first_addresses),
      "the GPU's memory cannot begin there");
  require(!was_used_, "the program says hello after it has used the GPU");
  process_ = request.numbers[0];
  memory_.begin_at(request.numbers[1]);
  DeviceDescription description = describe_device(gpu_);
  description.devices = devices_;
  append(reply.bytes, description);
}

void Session::register_module(const Request& request, Bytes bytes, Reply& reply) {
  const std::uint64_t name = request.numbers[1];
  require(name <= bytes.size(), "the name of the library is longer than the request");
  const Bytes binary = bytes.subspan(name);
  reply.answer.numbers[0] = modules_.add(
      {reinterpret_cast<const char*>(binary.data()), binary.size()}, text_of(bytes.first(name)));
  if (request.numbers[0] != 0) modules_.read(reply.answer.numbers[0]);
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
  description.explicit_cluster = program.explicit_cluster ? 1 : 0;
  std::copy(program.required_cluster.begin(), program.required_cluster.end(),
            std::begin(description.required_cluster));
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
  const std::uint64_t* n = request.numbers;
  require(n[0] <= static_cast<std::uint64_t>(MemoryKind::pinned), "there is no such memory");
  require(n[3] == 0 || (n[2] <= n[1] && n[3] <= n[1] - n[2]),
          "what is to be recorded of the memory lies outside of it");
  const std::uint64_t address =
      memory_.allocate(static_cast<MemoryKind>(n[0]), n[1], "", device_of(n[4]));
  if (address == 0) reply.answer.status = memory_allocation;
  if (address != 0 && n[3] != 0) memory_.hide_around(address, n[2], n[3]);
  reply.answer.numbers[0] = address;
}

void Session::copy_in(const Request& request, Bytes bytes, Reply& reply) {
  const std::uint32_t stream = stream_of(request.numbers[1]);
  const std::span<std::byte> place = memory_.find(request.numbers[0], bytes.size());
  if (place.empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  std::copy(bytes.begin(), bytes.end(), place.begin());
  copied_bytes_ += bytes.size();
  inexact_.clear(request.numbers[0], bytes.size());
  inexact_copies_.clear(request.numbers[0], bytes.size());
  recorder_.copy_in(request.numbers[0], stream, request.numbers[2] != 0, bytes);
}

void Session::copy_out(const Request& request, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  const std::uint32_t stream = stream_of(n[2]);
  const std::span<std::byte> place = memory_.find(n[0], n[1]);
  if (place.empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  copied_bytes_ += place.size();
  reply.bytes.assign(place.begin(), place.end());
  inexact_copies_.copy(n[0], inexact_, n[0], n[1]);
  recorder_.copy_out(n[0], stream, n[3] != 0, place,
                     inexact_.ranges(n[0], n[1], most_inexact_of_a_copy));
}

void Session::run_own(const std::string& name, std::uint64_t to, std::uint64_t count,
                      std::uint64_t last, std::uint64_t stream, Reply& reply) {
  constexpr std::uint32_t threads = 256;
  const std::uint32_t in_stream = stream_of(stream);
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
  how.stream = in_stream;
  execute(kernel, how, parameters, reply);
}

void Session::copy_within(const Request& request, Reply& reply) {
  const std::uint64_t to = request.numbers[0], from = request.numbers[1];
  const std::uint64_t bytes = request.numbers[2];
  const DeviceMemory::Buffer *const target = memory_.buffer_around(to, bytes),
                                    *const source = memory_.buffer_around(from, bytes);
  if (memory_.find(to, bytes).empty() || memory_.find(from, bytes).empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  if (target && source && target->device != source->device) return copy_peer(request);
  const std::uint64_t stream = stream_at(to, request.numbers[3]);
  const std::uint64_t wide = to % 16 == 0 && from % 16 == 0 ? bytes / 16 : 0;
  run_own("lockstep_copy_16", to, wide, from, stream, reply);
  run_own("lockstep_copy_1", to + 16 * wide, bytes - 16 * wide, from + 16 * wide, stream, reply);
  inexact_.copy(to, inexact_, from, bytes);
}

void Session::copy_peer(const Request& request) {
  const std::uint64_t* n = request.numbers;
  const std::span<std::byte> to = memory_.find(n[0], n[2]), from = memory_.find(n[1], n[2]);
  std::memmove(to.data(), from.data(), to.size());
  copied_bytes_ += to.size();
  inexact_.copy(n[0], inexact_, n[1], n[2]);
  recorder_.copy_peer(n[0], n[1], n[2], stream_of(n[3]), n[4] != 0);
}

std::uint32_t Session::device_of(std::uint64_t number) const {
  require(number < devices_, "there is no such device");
  return static_cast<std::uint32_t>(number);
}

std::uint32_t Session::stream_of(std::uint64_t number) const {
  require(device_of_stream(number) < devices_, "its stream is none that was made");
  return static_cast<std::uint32_t>(number);
}

void Session::peer_access(const Request& request) {
  const std::uint64_t* n = request.numbers;
  const std::pair pair{device_of(n[0]), device_of(n[1])};
  if (n[2] != 0) {
    peers_.insert(pair);
  } else {
    peers_.erase(pair);
  }
}

std::uint64_t Session::stream_at(std::uint64_t address, std::uint64_t stream) {
  const DeviceMemory::Buffer* buffer = memory_.buffer_around(address, 1);
  if (!buffer || buffer->kind != MemoryKind::device || buffer->device == device_of_stream(stream))
    return stream;
  recorder_.synchronize(stream_of(stream));
  return std::uint64_t{buffer->device} << device_shift;
}

void Session::fill(const Request& request, Reply& reply) {
  const std::uint64_t to = request.numbers[0], bytes = request.numbers[1];
  const std::uint64_t width = request.numbers[3];
  require(width == 1 || width == 2 || width == 4, "memory is filled with 1, 2 or 4 bytes");
  require(to % width == 0 && bytes % width == 0,
          "the memory is no multiple of what it is filled with");
  if (memory_.find(to, bytes).empty()) {
    reply.answer.status = invalid_value;
    return;
  }
  const std::uint64_t stream = stream_at(to, request.numbers[4]);
  constexpr std::uint64_t copies[] = {0, 0x01010101, 0x00010001, 0,
                                      1};  // factors that repeat a value in 4 bytes
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

namespace {

/// Returns whether each size is in its range, so that the product is small.
bool is_grid_of_a_gpu(const LaunchDescription& how) {
  constexpr std::uint32_t blocks[] = {0x7fffffff, 65535, 65535}, threads[] = {1024, 1024, 64};
  for (int d = 0; d < 3; ++d)
    if (how.blocks[d] > blocks[d] || how.threads[d] > threads[d]) return false;
  return true;
}

}  // namespace

void Session::launch(Bytes bytes, Reply& reply) {
  LaunchDescription how;
  require(bytes.size() >= sizeof how, "a launch has a description");
  std::memcpy(&how, bytes.data(), sizeof how);
  require(how.function < modules_.kernels(), "its function was never found");
  stream_of(how.stream);
  const CapturedModules::Kernel& kernel = modules_.kernel(how.function);
  const isa::Program& program = kernel.program();
  if (!is_grid_of_a_gpu(how)) {
    reply.answer.status = invalid_configuration;
    return;
  }
  const std::uint64_t threads = std::uint64_t{how.threads[0]} * how.threads[1] * how.threads[2];
  const std::uint64_t blocks = std::uint64_t{how.blocks[0]} * how.blocks[1] * how.blocks[2];
  const bool has_limit = program.maximum_threads != 0 && threads > program.maximum_threads;
  if (threads == 0 || blocks == 0 || threads > gpu_.sm.threads_per_block || has_limit ||
      (program.required_block[0] != 0 && !std::equal(std::begin(how.threads), std::end(how.threads),
                                                     program.required_block.begin()))) {
    reply.answer.status = invalid_configuration;
    return;
  }
  if (const LaunchedCluster cluster = cluster_of(program, how, gpu_); cluster.status != success) {
    reply.answer.status = cluster.status;
    return;
  }
  const OccupancyLimits limits = limits_of(gpu_);
  const BlockResources block =
      block_of(kernel, static_cast<std::uint32_t>(threads), how.shared_bytes);
  if (how.shared_bytes > limits.shared_bytes_per_block ||
      !why_block_does_not_fit(block, limits).empty()) {
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
                      Bytes parameters, Reply& reply, bool is_recorded) {
  recorder_.note_cpu_writes();
  memory_.lowest_stray();  // drops the stray addresses of copies
  std::vector<std::string> printed, warnings;
  const LaunchedCluster cluster = cluster_of(kernel.program(), how, gpu_);
  isa::Launch launch{.module = *kernel.module,
                     .kernel = kernel.index,
                     .grid = {how.blocks[0], how.blocks[1], how.blocks[2]},
                     .block = {how.threads[0], how.threads[1], how.threads[2]},
                     .dynamic_shared_bytes = how.shared_bytes,
                     .parameters = {parameters.begin(), parameters.end()},
                     .global_addresses = *kernel.variables,
                     .cluster = cluster.shape,
                     .is_explicit_cluster = cluster.is_explicit,
                     .machine = {.sms = gpu_.sm.count,
                                 .warps_of_an_sm = gpu_.sm.warps,
                                 .turn = gpu_.sm.turn_of_paths()},
                     .printed = &printed,
                     .warnings = &warnings};
  isa::FloatTrace floats(inexact_);
  const bool traces_floats = !kernel.is_ours() && (kernel.adds_floats || !inexact_.empty());
  if (traces_floats) launch.floats = &floats;
  if (races_) launch.races = &races_->of_kernel(kernel.recorded_name);
  const auto device = static_cast<std::uint32_t>(device_of_stream(how.stream));
  std::vector<std::uint64_t> hidden;
  if (devices_ > 1 && !kernel.is_ours())
    hidden = memory_.hide([&](std::uint32_t other) {
      return other != device && !peers_.contains({device, other});
    });
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
  memory_.show(hidden);
  execution_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (races_) std::fputs(races_->news(kernel.recorded_name, kernel.file, launch).c_str(), stderr);
  for (const std::string& text : printed) reply.printed += text;
  for (const std::string& text : warnings)
    if (warned_.insert(text.substr(0, text.find(": "))).second) say("warning: " + text);
  if (sticky_ != success) return;
  if (traces_floats) inexact_.apply(floats);
  warn_of_strays(kernel.recorded_name);
  if (is_recorded) recorder_.launch(kernel.recorded_name, how, parameters);
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

void Session::advise_or_prefetch(const Request& request, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  const bool is_advice = request.operation == Operation::advise;
  require(!is_advice || n[2] <= static_cast<std::uint64_t>(Advice::not_read_mostly),
          "there is no such advice");
  const std::uint32_t stream = is_advice ? 0 : stream_of(n[3]);
  const DeviceMemory::Buffer* buffer = memory_.buffer_around(n[0], n[1]);
  if (!buffer || n[1] == 0 || buffer->kind != MemoryKind::managed) {
    reply.answer.status = invalid_value;
  } else if (is_advice) {
    recorder_.advise(n[0], n[1], static_cast<Advice>(n[2]));
  } else {
    recorder_.note_cpu_writes();
    recorder_.prefetch(n[0], n[1], n[2] != 0, stream);
  }
}

void Session::touch(Bytes bytes) {
  require(bytes.size() % sizeof(Touch) == 0, "what the CPU touched ends within a record");
  for (; !bytes.empty(); bytes = bytes.subspan(sizeof(Touch))) {
    Touch touch;
    std::memcpy(&touch, bytes.data(), sizeof touch);
    const DeviceMemory::Buffer* buffer = memory_.buffer_around(touch.address, touch.bytes);
    if (!buffer) continue;
    require(buffer->kind != MemoryKind::device, "the CPU cannot touch memory of the device");
    recorder_.touch(touch);
  }
}

void Session::occupancy(const Request& request, Reply& reply) {
  const std::uint64_t* n = request.numbers;
  require(n[0] < modules_.kernels(), "its function was never found");
  const OccupancyLimits limits = limits_of(gpu_);
  if (n[1] > limits.threads_per_block || n[2] > limits.shared_bytes_per_block) return;
  const BlockResources block = block_of(modules_.kernel(n[0]), static_cast<std::uint32_t>(n[1]),
                                        static_cast<std::uint32_t>(n[2]));
  if (why_block_does_not_fit(block, limits).empty())
    reply.answer.numbers[0] = blocks_per_sm(block, limits);
  reply.answer.numbers[1] = active_clusters(gpu_, reply.answer.numbers[0], n[3]);
}

/// Returns a nanosecond per warp instruction and per 12 copied bytes: a time that grows with work
/// and is reproducible.
void Session::event_time(const Request& request, Reply& reply) {
  if (request.numbers[0] != 0) ++time_questions_;
  reply.answer.numbers[0] = 1000 + warp_instructions_ + copied_bytes_ / 12;
}

void Session::unsupported(Bytes bytes) {
  const std::string name = text_of(bytes);
  if (named_.insert(name).second)
    say(name + " is not there: the program gets cudaErrorNotSupported");
}

void Session::other_runtime(const Request& request, Bytes bytes) {
  if (request.numbers[0] != 0) {
    has_runtime_inside_ = true;
    return;
  }
  const auto [file, is_new] = other_runtimes_.insert(text_of(bytes));
  if (!is_new) return;
  const std::string why =
      *file +
      " cannot be captured: it has its own way to the GPU, past the CUDA runtime, and kernels as "
      "machine code only; it gets an error, and the recording has nothing of what it would do";
  say(why + " - build the program with kernels of its own in its place");
  if (!failure_) failure_ = why;
}

}  // namespace lockstep::capture
