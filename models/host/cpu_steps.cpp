/// Steps in which the CPU reads or writes buffers, and launches of kernels (see
/// tenant_program.hpp).
#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "models/host/tenant_program.hpp"
#include "models/workload/buffer_part.hpp"
#include "models/workload/element.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {

bool TenantProgram::launch(const Step& step, Time now) {
  const std::uint32_t kernel = find_kernel(step, module_);
  const isa::Program& program = module_.kernels[kernel].reference;
  const Variables& variables = cursor_.variables();
  Operation operation;
  const Member& there = team_[step.gpu];
  GridLaunch& launch = operation.launch;
  launch.tenant = there.number.value();
  launch.module = there.module;
  launch.kernel = static_cast<std::uint16_t>(kernel);
  launch.stream = static_cast<std::uint16_t>(step.stream);
  launch.priority = tenant_.priority;
  operation.is_programmatic = step.is_programmatic;
  const LaunchShape shape = launch_shape(program, step, variables);
  launch.blocks = shape.blocks;
  launch.threads = shape.threads;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.registers = shape.registers;
  std::copy(shape.cluster.begin(), shape.cluster.end(), launch.cluster.begin());
  launch.explicit_cluster = shape.is_explicit_cluster ? 1 : 0;
  operation.parameters = pack_arguments(program, step, variables, buffers_.addresses());
  launch.parameter_bytes = static_cast<std::uint32_t>(operation.parameters.size());
  find_overwrites(step, kernel, operation.parameters, launch);
  for_each_buffer(step, [&](std::uint32_t name) {
    buffers_.require_mapped(buffers_.meaning(name), step.where);
  });
  KernelRecord record{
      step.kernel, services_.numbers[id_.value()], step.stream, launch.blocks, launch.threads, now};
  record.gpu = there.services->gpu;
  // The place of a launch's parameters must not depend on launches of other GPUs.
  launch.number_on_gpu = services_.kernels.launches_on(record.gpu);
  launch.grid = services_.kernels.add(std::move(record));
  push(step.gpu, step.stream, std::move(operation));
  if (!step.is_with_next) pause(services_.launch_overhead, now);
  return true;
}

/// Buffers that parameters of a launch of a recorded program may point into: their words tell.
std::vector<std::uint32_t> TenantProgram::buffers_of_packed(
    std::span<const std::byte> packed) const {
  std::vector<std::uint32_t> buffers(isa::most_followed_parameters, 0);
  for (std::size_t place = 0; place < buffers.size() && 8 * (place + 1) <= packed.size(); ++place) {
    std::uint64_t address = 0;
    std::memcpy(&address, packed.data() + 8 * place, sizeof address);
    if (const auto buffer = buffer_at(tenant_.workload, address)) buffers[place] = *buffer + 1;
  }
  return buffers;
}

/// Counts buffers as overwritten if others see each store to them: pinned memory, memory of another
/// GPU, and memory that GPUs share.
void TenantProgram::find_overwrites(const Step& step, std::uint32_t kernel,
                                    std::span<const std::byte> parameters, GridLaunch& launch) {
  const isa::Program& program = module_.kernels[kernel].lowered;
  const auto [use, is_new] = global_uses_.try_emplace(kernel);
  if (is_new) use->second = isa::find_global_use(program);
  std::vector<std::uint32_t> buffers =
      buffers_of_packed(tenant_.workload.recording ? parameters : std::span<const std::byte>());
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const std::uint32_t place = program.parameters[i].offset / 8;
    if (step.arguments[i].is_buffer && place < buffers.size())
      buffers[place] = buffers_.meaning(step.arguments[i].buffer).value() + 1;
  }
  std::uint64_t pinned = 0;
  for (std::size_t place = 0; place < buffers.size(); ++place) {
    if (buffers[place] == 0) continue;
    const Buffer& used = buffers_.declaration(BufferId{buffers[place] - 1});
    const bool is_shared = used.memory == MemoryKind::managed && tenant_.members() > 1;
    if (used.memory == MemoryKind::pinned || is_shared || !used.lies_on(step.gpu))
      pinned |= std::uint64_t{1} << place;
  }
  launch.pinned = use->second.written() & pinned;
  launch.overwritten =
      use->second.overwritten([&](unsigned place) { return buffers[place]; }) | launch.pinned;
}

std::uint64_t TenantProgram::index_of(const Step& step) const {
  const Buffer& declared = buffers_.declaration(buffers_.meaning(step.buffer));
  return static_cast<std::uint64_t>(step.index.evaluate_integer(
      cursor_.variables(), 0, static_cast<std::int64_t>(declared.count) - 1));
}

bool TenantProgram::touch(const Step& step, const HostCycle& cycle) {
  const BufferId buffer = buffers_.meaning(step.buffer);
  buffers_.require_mapped(buffer, step.where);
  const Buffer& declared = buffers_.declaration(buffer);
  if (declared.memory != MemoryKind::managed) return true;
  const std::uint64_t width = isa::bytes_of(declared.type);
  const BufferPart part = part_of(step, declared, cursor_.variables(), tenant_.name);
  if (part.count == 0) return true;
  std::uint64_t first = part.first * width / page_bytes;
  std::uint64_t count = round_up_to_page((part.first + part.count) * width) / page_bytes - first;
  if (step.kind == Step::Kind::repeat_until) {
    first = index_of(step) * isa::bytes_of(declared.type) / page_bytes;
    count = 1;
  }
  const bool writes = step.kind == Step::Kind::write || step.kind == Step::Kind::fill;
  return buffers_.take_home(buffer, first, count, writes, cycle);
}

bool TenantProgram::write(const Step& step, const HostCycle& cycle) {
  if (!touch(step, cycle)) return false;
  if (!step.data) return true;
  const BufferId buffer = buffers_.meaning(step.buffer);
  const BufferPart part =
      part_of(step, buffers_.declaration(buffer), cursor_.variables(), tenant_.name);
  tenant_.workload.recording->read(*step.data, 0, buffers_.host(buffer).at(part.first, part.count));
  return true;
}

bool TenantProgram::fill(const Step& step, const HostCycle& cycle) {
  if (!touch(step, cycle)) return false;
  const BufferId buffer = buffers_.meaning(step.buffer);
  const Buffer& declared = buffers_.declaration(buffer);
  const double value = step.value.evaluate(cursor_.variables());
  if (!fits(declared.type, value))
    throw UserError(step.value.where(),
                    "tenant " + tenant_.name + ": buffer " + declared.name + " of " +
                        element_type_name(declared.type) + " cannot hold " + number_text(value),
                    "fill it with a value of its type, or change the type");
  const std::size_t width = isa::bytes_of(declared.type);
  const std::span<std::byte> bytes = buffers_.host(buffer).at(0, declared.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += width)
    store_element(declared.type, value, bytes.data() + at);
  return true;
}

bool TenantProgram::save(const Step& step, const HostCycle& cycle) {
  if (!touch(step, cycle)) return false;
  if (!keeps_saved_) return true;
  const BufferId buffer = buffers_.meaning(step.buffer);
  const auto bytes = buffers_.host(buffer).at(0, buffers_.declaration(buffer).bytes());
  std::erase_if(saved_, [&](const Saved& s) { return s.buffer == step.buffer; });
  saved_.push_back({step.buffer, {bytes.begin(), bytes.end()}});
  return true;
}

bool TenantProgram::test(const Step& step) {
  const BufferId buffer = buffers_.meaning(step.buffer);
  const Buffer& declared = buffers_.declaration(buffer);
  const std::size_t width = isa::bytes_of(declared.type);
  const auto bytes = buffers_.host(buffer).at(index_of(step) * width, width);
  return load_element(declared.type, bytes.data()) == step.equals.evaluate(cursor_.variables());
}

}  // namespace lockstep
