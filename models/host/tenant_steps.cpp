/// What each step of a host program does (see tenant_run.hpp).
/// Source: architecture.md, section 8 ("The host").
#include "core/error/error.hpp"
#include "core/time/format.hpp"
#include "models/host/tenant_run.hpp"
#include "models/workload/buffer_part.hpp"
#include "models/workload/element.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep {

namespace {

/// Some minutes before the end of time, for what is under way then.
constexpr Time longest_run{9'000'000'000'000'000'000};

}  // namespace

bool TenantRun::do_step(const Step& step, Time now, HostShared& shared, Outbox& outbox) {
  const std::uint32_t buffer = names_[step.buffer];
  switch (step.kind) {
    case Step::Kind::copy:
      do_copy(step, shared);
      return true;
    case Step::Kind::launch:
      do_launch(step, now, shared);
      return true;
    case Step::Kind::synchronize:
      return step.has_stream ? !streams_.contains(step.stream) : streams_idle();
    case Step::Kind::prefetch:
      do_prefetch(step, shared);
      return true;
    case Step::Kind::read:
    case Step::Kind::write:
    case Step::Kind::repeat_until:
      return touch(step, now, shared, outbox);
    case Step::Kind::fill:
      if (!touch(step, now, shared, outbox)) return false;
      do_fill(step);
      return true;
    case Step::Kind::advise:
      do_advise(step, shared);
      return true;
    case Step::Kind::save: {
      if (!touch(step, now, shared, outbox)) return false;
      if (!first_) return true;
      const auto bytes = buffers_[buffer].host.at(0, declaration(buffer).bytes());
      std::erase_if(saved_, [&](const Saved& s) { return s.buffer == step.buffer; });
      saved_.push_back({step.buffer, {bytes.begin(), bytes.end()}});
      return true;
    }
    case Step::Kind::delay:
      if (step.duration > longest_run - now)
        throw UserError(step.where, "the run would be longer than " + to_text(longest_run),
                        "no simulated time lies behind that");
      pause(step.duration, now);
      return true;
    case Step::Kind::free:
      require_mapped(buffer, step.where);
      return release(buffer, now, shared, outbox);
    case Step::Kind::swap:
      std::swap(names_[step.buffer], names_[step.other]);
      return true;
    case Step::Kind::repeat_times:
      break;
  }
  LOCKSTEP_CHECK(false, "a loop is no step of its own");
}

bool TenantRun::part(const Step& step, Operation& operation) const {
  operation.buffer = names_[step.buffer];
  require_mapped(operation.buffer, step.where);
  const Buffer& declared = declaration(operation.buffer);
  const auto [first, count] = part_of(step, declared, cursor_.variables(), tenant_.name);
  operation.offset = first * isa::bytes_of(declared.type);
  operation.bytes = count * isa::bytes_of(declared.type);
  return count > 0;
}

void TenantRun::do_copy(const Step& step, HostShared& shared) {
  Operation operation;
  if (!part(step, operation)) return;
  operation.kind = Operation::Kind::copy;
  operation.to_gpu = step.to_gpu;
  operation.id = shared.next_operation++;
  if (!step.has_stream) waiting_operation_ = operation.id;
  streams_[step.stream].push_back(std::move(operation));
}

void TenantRun::do_prefetch(const Step& step, HostShared& shared) {
  Operation operation;
  if (!part(step, operation)) return;
  operation.kind = Operation::Kind::migrate;
  operation.to_gpu = step.to_gpu;
  operation.id = shared.next_operation++;
  streams_[step.stream].push_back(std::move(operation));
}

void TenantRun::do_launch(const Step& step, Time now, HostShared& shared) {
  const std::uint32_t kernel = find_kernel(step, module_);
  const isa::Program& program = module_.kernels[kernel].reference;
  const Variables& variables = cursor_.variables();
  Operation operation;
  operation.id = shared.next_operation++;
  GridLaunch& launch = operation.launch;
  launch.tenant = index_;
  launch.module = module_index_;
  launch.kernel = static_cast<std::uint16_t>(kernel);
  launch.stream = static_cast<std::uint16_t>(step.stream);
  launch.priority = tenant_.priority;
  const LaunchShape shape = launch_shape(program, step, variables);
  launch.blocks = shape.blocks;
  launch.threads = shape.threads;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  std::vector<std::uint64_t> addresses;
  for (const std::uint32_t meaning : names_) {
    addresses.push_back(buffers_[meaning].address);
  }
  operation.parameters = pack_arguments(program, step, variables, addresses);
  launch.parameter_bytes = static_cast<std::uint32_t>(operation.parameters.size());
  for (const Step::Argument& argument : step.arguments) {
    if (!argument.is_buffer) continue;
    require_mapped(names_[argument.buffer], step.where);
  }
  launch.grid = static_cast<std::uint32_t>(shared.kernels.size());
  shared.kernels.push_back({step.kernel, launch.grid, index_, step.stream, launch.blocks,
                            launch.threads, now, Time::never(), Time::never()});
  streams_[step.stream].push_back(std::move(operation));
  pause(shared.launch_overhead, now);
}

void TenantRun::do_fill(const Step& step) {
  const std::uint32_t buffer = names_[step.buffer];
  const Buffer& declared = declaration(buffer);
  const double value = step.value.evaluate(cursor_.variables());
  if (!fits(declared.type, value))
    throw UserError(step.value.where(), "tenant " + tenant_.name + ": buffer " + declared.name +
                                            " of " + element_type_name(declared.type) +
                                            " cannot hold " + number_text(value));
  const std::size_t width = isa::bytes_of(declared.type);
  const std::span<std::byte> bytes = buffers_[buffer].host.at(0, declared.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    store_element(declared.type, value, bytes.data() + at);
  }
}

bool TenantRun::test(const Step& step) {
  const std::uint32_t buffer = names_[step.buffer];
  const Buffer& declared = declaration(buffer);
  const std::int64_t index = step.index.evaluate_integer(
      cursor_.variables(), 0, static_cast<std::int64_t>(declared.count) - 1);
  const std::size_t width = isa::bytes_of(declared.type);
  const auto bytes = buffers_[buffer].host.at(static_cast<std::uint64_t>(index) * width, width);
  return load_element(declared.type, bytes.data()) == step.equals.evaluate(cursor_.variables());
}

void TenantRun::do_advise(const Step& step, HostShared& shared) {
  const std::uint32_t buffer = names_[step.buffer];
  require_mapped(buffer, step.where);
  const std::uint32_t allocation = buffers_[buffer].allocation;
  if (step.preferred) shared.managed.prefer(allocation, *step.preferred);
  if (step.read_mostly) shared.managed.read_mostly(allocation, *step.read_mostly);
}

bool TenantRun::touch(const Step& step, Time now, HostShared& shared, Outbox& outbox) {
  const std::uint32_t buffer = names_[step.buffer];
  require_mapped(buffer, step.where);
  const Buffer& declared = declaration(buffer);
  if (declared.memory != MemoryKind::managed) return true;
  BufferState& state = buffers_[buffer];
  if (!state.held) {
    state.held = true;
    shared.managed.hold(state.allocation);
  }
  std::uint64_t first = 0, count = round_up_to_page(declared.bytes()) / page_bytes;
  if (step.kind == Step::Kind::repeat_until) {
    const std::int64_t index = step.index.evaluate_integer(
        cursor_.variables(), 0, static_cast<std::int64_t>(declared.count) - 1);
    first = static_cast<std::uint64_t>(index) * isa::bytes_of(declared.type) / page_bytes;
    count = 1;
  }
  const bool writes = step.kind == Step::Kind::write || step.kind == Step::Kind::fill;
  const DriverContext context = shared.context(now, outbox);
  if (!shared.managed.migrate_home(state.allocation, first, count, writes, context)) return false;
  state.held = false;
  shared.managed.let_go(state.allocation, context);
  return true;
}

void TenantRun::require_mapped(std::uint32_t buffer, const std::string& where) const {
  if (buffers_[buffer].mapped) return;
  throw UserError(
      where,
      "tenant " + tenant_.name + " uses buffer " + declaration(buffer).name + " after it was freed",
      "move the free step behind the last use");
}

}  // namespace lockstep
