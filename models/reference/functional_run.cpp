#include "models/reference/functional_run.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "core/error/error.hpp"
#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/load.hpp"
#include "models/reference/address_space.hpp"
#include "models/reference/unwritten_reads.hpp"
#include "models/workload/buffer_part.hpp"
#include "models/workload/content/content.hpp"
#include "models/workload/element.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/program_cursor.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {

namespace {

class FunctionalRun {
 public:
  FunctionalRun(const std::string& tenant, const Workload& workload, const isa::Module& module,
                const FunctionalOptions& options)
      : tenant_(tenant),
        workload_(workload),
        module_(module),
        options_(options),
        profile_(options.profile),
        cursor_(workload) {
    if (profile_ != nullptr) profile_->executions.resize(module.kernels.size());
    names_.resize(workload.buffers.size());
    std::iota(names_.begin(), names_.end(), 0u);
    map_buffers();
    map_variables();
  }

  FunctionalResult run() {
    while (const Step* step = cursor_.current()) {
      if (step->kind == Step::Kind::launch && result_.launches == options_.launches) break;
      if (options_.look) options_.look();
      do_step(*step);
      if (step->kind == Step::Kind::repeat_until) {
        cursor_.answer(test(*step));
      } else {
        cursor_.advance();
      }
    }
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
      if (!buffers_[b].freed) release(b);
    }
    for (State& state : buffers_) result_.buffers.push_back(std::move(state.content));
    result_.meaning = names_;
    return std::move(result_);
  }

 private:
  struct State {
    std::uint64_t address = 0;
    bool freed = false;
    BufferBytes bytes;                        ///< bytes that kernels see, until the buffer is freed
    BufferBytes at_host;                      ///< host copy of a device buffer
    FunctionalResult::BufferContent content;  ///< content when the buffer is freed
  };

  void map_buffers() {
    const auto contents = make_contents(workload_);
    for (std::uint32_t b = 0; b < names_.size(); ++b) {
      const Buffer& buffer = workload_.buffers[b];
      State& state = buffers_.emplace_back();
      state.address = space_.take(buffer.bytes(), buffer.address);
      const bool has_copy = buffer.memory == MemoryKind::device;
      state.bytes = BufferBytes(buffer.bytes(), has_copy ? nullptr : contents[b]);
      if (has_copy) state.at_host = BufferBytes(buffer.bytes(), contents[b]);
    }
    for (State& state : buffers_) {
      const Buffer& buffer = workload_.buffers[static_cast<std::size_t>(&state - buffers_.data())];
      map(state.address, state.bytes, buffer.memory == MemoryKind::device);
    }
  }

  void map(std::uint64_t address, BufferBytes& bytes, bool is_fresh) {
    const auto ready = [&bytes](std::uint64_t offset, std::uint64_t count) {
      return bytes.around(offset, count);
    };
    memory_.map(address, bytes.memory(), ready, is_fresh);
  }

  void map_variables() {
    for (const isa::GlobalVariable& variable : module_.globals) {
      if (const auto declared = workload_.buffer_of_symbol(variable.name)) {
        variables_.push_back(buffers_[*declared].address);
        continue;
      }
      const std::uint64_t bytes = variable.name == isa::heap_name
                                      ? workload_.heap
                                      : std::max<std::uint64_t>(variable.bytes, 1);
      variables_.push_back(space_.take(bytes));
      map(variables_.back(), variable_bytes_.emplace_back(bytes, nullptr), false);
    }
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const std::vector<std::byte> initial =
          initial_content(module_.globals[v], workload_, module_, variables_);
      memory_.write(variables_[v], initial.data(), initial.size());
      if (const auto declared = workload_.buffer_of_symbol(module_.globals[v].name)) {
        if (!initial.empty()) memory_.end_freshness();
        const std::span<std::byte> host = host_copy(*declared).at(0, initial.size());
        std::copy(initial.begin(), initial.end(), host.begin());
      }
    }
  }

  const Buffer& declaration(std::uint32_t buffer) const { return workload_.buffers[buffer]; }

  BufferBytes& host_copy(std::uint32_t buffer) {
    State& state = buffers_[buffer];
    return declaration(buffer).memory == MemoryKind::device ? state.at_host : state.bytes;
  }

  /// Returns the buffer that a step's name means now.  Throws UserError if it was freed.
  std::uint32_t buffer(const Step& step, std::uint32_t name) const {
    const std::uint32_t index = names_[name];
    if (buffers_[index].freed) {
      throw UserError(
          step.where,
          "tenant " + tenant_ + " uses buffer " + declaration(index).name + " after it was freed",
          "move the free step behind the last use");
    }
    return index;
  }

  void do_step(const Step& step) {
    switch (step.kind) {
      case Step::Kind::copy:
        return copy(step);
      case Step::Kind::peer_copy:
        return copy_between(step);
      case Step::Kind::launch:
        return launch(step);
      case Step::Kind::fill:
        return fill(step);
      case Step::Kind::save:
        return save(step);
      case Step::Kind::free:
        return step.is_part ? release_part(step) : release(buffer(step, step.buffer));
      case Step::Kind::swap:
        std::swap(names_[step.buffer], names_[step.other]);
        return;
      case Step::Kind::write:
        return write(step);
      case Step::Kind::read:
      case Step::Kind::prefetch:
      case Step::Kind::advise:
      case Step::Kind::repeat_until:
        buffer(step, step.buffer);  // managed memory has one copy here, so nothing moves
        return;
      case Step::Kind::synchronize:
      case Step::Kind::delay:
        return;
      case Step::Kind::repeat_times:
        break;
    }
    LOCKSTEP_CHECK(false, "a loop is no step of its own");
  }

  void copy(const Step& step) {
    const std::uint32_t index = buffer(step, step.buffer);
    const Buffer& declared = declaration(index);
    const auto [first, count] = part_of(step, declared, cursor_.variables(), tenant_);
    const std::size_t width = isa::bytes_of(declared.type);
    const std::uint64_t from = first * width, bytes = count * width;
    BufferBytes &host = host_copy(index), &gpu = buffers_[index].bytes;
    if (step.to_gpu) {
      if (step.data) workload_.recording->read(*step.data, 0, host.at(from, bytes));
      if (&gpu != &host) gpu.assign(host, from, bytes);
      memory_.end_freshness_at(buffers_[index].address);
    } else {
      if (&gpu != &host) host.assign(gpu, from, bytes);
      if (step.data && declared.check && !result_.unexpected) {
        result_.unexpected =
            find_unexpected(workload_, index, from, *step.data, host.at(from, bytes));
        if (result_.unexpected) *result_.unexpected = step.where + ": " + *result_.unexpected;
      }
    }
  }

  void copy_between(const Step& step) {
    const std::uint32_t from = buffer(step, step.buffer), to = buffer(step, step.other);
    const PeerParts parts =
        peer_parts_of(step, declaration(from), declaration(to), cursor_.variables(), tenant_);
    if (parts.bytes == 0) return;
    const std::span<const std::byte> source = buffers_[from].bytes.at(parts.from, parts.bytes);
    const std::span<std::byte> target = buffers_[to].bytes.at(parts.to, parts.bytes);
    std::copy(source.begin(), source.end(), target.begin());
    memory_.end_freshness_at(buffers_[to].address);
  }

  void write(const Step& step) {
    const std::uint32_t index = buffer(step, step.buffer);
    if (!step.data) return;
    const auto [first, count] = part_of(step, declaration(index), cursor_.variables(), tenant_);
    workload_.recording->read(*step.data, 0, host_copy(index).at(first, count));
  }

  void launch(const Step& step) {
    const std::uint32_t kernel = find_kernel(step, module_);
    const isa::Program& program = module_.kernels[kernel].reference;
    const LaunchShape shape = launch_shape(program, step, cursor_.variables());
    for_each_buffer(step, [&](std::uint32_t name) { buffer(step, name); });
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t index : names_) addresses.push_back(buffers_[index].address);
    isa::Launch grid{
        .module = module_,
        .kernel = static_cast<int>(kernel),
        .grid = shape.blocks,
        .block = shape.threads,
        .dynamic_shared_bytes = shape.dynamic_shared_bytes,
        .parameters = pack_arguments(program, step, cursor_.variables(), addresses),
        .global_addresses = variables_,
        .cluster = shape.cluster,
        .is_explicit_cluster = shape.is_explicit_cluster,
        .machine = options_.machine,
        .printed = &result_.printed,
        .fresh_read = [this](std::uint64_t address,
                             const std::string& where) { warn_of_fresh(address, where); },
        .between_blocks = options_.look};
    if (profile_ != nullptr) {
      grid.lowered = profile_->lowered;
      grid.executions = &profile_->executions[kernel];
    }
    together_.push_back(std::move(grid));
    ++result_.launches;
    if (!step.is_with_next) run_together();
  }

  void run_together() {
    const isa::InterpreterCounts counts = isa::interpret(together_, memory_);
    together_.clear();
    result_.warp_instructions += counts.warp_instructions;
    result_.thread_instructions += counts.thread_instructions;
  }

  void warn_of_fresh(std::uint64_t address, const std::string& where) {
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
      const std::string& name = declaration(b).name;
      if (address - buffers_[b].address >= declaration(b).bytes()) continue;
      result_.warnings.push_back(unwritten_read_text(where, name));
    }
  }

  void fill(const Step& step) {
    const std::uint32_t index = buffer(step, step.buffer);
    const isa::Type type = declaration(index).type;
    const double value = step.value.evaluate(cursor_.variables());
    const std::span<std::byte> bytes = host_copy(index).at(0, declaration(index).bytes());
    const std::size_t width = isa::bytes_of(type);
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      store_element(type, value, bytes.data() + at);
    }
  }

  void save(const Step& step) {
    const std::vector<std::byte> bytes = host_copy(buffer(step, step.buffer)).copy();
    std::erase_if(result_.saved, [&](const auto& saved) { return saved.name == step.buffer; });
    result_.saved.push_back({step.buffer, bytes});
  }

  bool test(const Step& step) {
    const std::uint32_t index = names_[step.buffer];
    const Buffer& declared = declaration(index);
    const std::int64_t element = step.index.evaluate_integer(
        cursor_.variables(), 0, static_cast<std::int64_t>(declared.count) - 1);
    const std::size_t width = isa::bytes_of(declared.type);
    const auto place = host_copy(index).at(static_cast<std::uint64_t>(element) * width, width);
    return load_element(declared.type, place.data()) == step.equals.evaluate(cursor_.variables());
  }

  /// Checks the part that a free step names.  The rest stays usable; the program does not use the
  /// freed part.
  void release_part(const Step& step) const {
    part_of(step, declaration(buffer(step, step.buffer)), cursor_.variables(), tenant_);
  }

  /// Keeps the buffer's bytes and takes it from the address space.
  void release(std::uint32_t index) {
    State& state = buffers_[index];
    memory_.unmap(state.address);
    if (declaration(index).memory == MemoryKind::device) {
      state.content.device = std::move(state.bytes);
      state.content.host = std::move(state.at_host);
    } else {
      state.content.host = std::move(state.bytes);
    }
    state.freed = true;
  }

  const std::string& tenant_;
  const Workload& workload_;
  const isa::Module& module_;
  const FunctionalOptions& options_;
  ExecutionProfile* const profile_;
  ProgramCursor cursor_;
  isa::FlatMemory memory_;
  AddressSpace space_;
  std::vector<std::uint32_t> names_;      ///< present buffer of each name
  std::vector<State> buffers_;            ///< buffers in the order of declaration
  std::vector<std::uint64_t> variables_;  ///< addresses of the module's .global variables
  std::deque<BufferBytes> variable_bytes_;
  std::vector<isa::Launch> together_;  ///< launches that begin when the next one does
  FunctionalResult result_;
};

}  // namespace

TenantImages FunctionalResult::images() const {
  TenantImages images;
  for (const BufferContent& content : buffers) {
    BufferImage& image = images.emplace_back();
    image.host = ImageBytes::of(content.host);
    if (content.device) image.device = ImageBytes::of(*content.device);
  }
  return images;
}

FunctionalResult run_functionally(const std::string& tenant, const Workload& workload,
                                  const isa::Module& module, const FunctionalOptions& options) {
  return FunctionalRun(tenant, workload, module, options).run();
}

}  // namespace lockstep
