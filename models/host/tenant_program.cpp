#include "models/host/tenant_program.hpp"

#include <algorithm>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/time/format.hpp"
#include "models/workload/buffer_part.hpp"
#include "models/workload/element.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep {
namespace {

/// Longest time of a run, some minutes before the end of representable time, for work that is under
/// way then.
constexpr Time longest_run{9'000'000'000'000'000'000};

}  // namespace

TenantProgram::TenantProgram(const Tenant& tenant, TenantId id, std::uint16_t module_index,
                             const isa::Module& module, TenantBuffers& buffers,
                             TenantStreams& streams, TenantServices& services)
    : tenant_(tenant),
      id_(id),
      module_(module),
      buffers_(buffers),
      streams_(streams),
      services_(services),
      team_{{&buffers, &streams, &services, id, module_index}},
      cursor_(tenant.workload),
      timer_(tenant.arrival) {}

bool TenantProgram::advance(const HostCycle& cycle) {
  const Step* step = cursor_.current();
  if (waits() || step == nullptr || !visit(*step, cycle)) return false;
  count_step(*step, cycle.now);
  ++steps_ended_;
  if (step->kind == Step::Kind::repeat_until) {
    const bool done = test(*step);
    polls_ = done ? 0 : polls_ + 1;
    cursor_.answer(done);
  } else {
    cursor_.advance();
  }
  return true;
}

bool TenantProgram::take_steps(bool transfers) {
  const bool any = std::exchange(steps_told_, steps_ended_) != steps_ended_;
  const Step* step = cursor_.current();
  const bool touches =
      step != nullptr && step->kind != Step::Kind::synchronize && step->kind != Step::Kind::launch;
  const auto moves_data = [](const Member& member) { return member.streams->moves_data(); };
  const bool moves = transfers && (touches || std::any_of(team_.begin(), team_.end(), moves_data));
  return polls_ < most_polls && (any || timer_ != Time::never() || moves);
}

void TenantProgram::count_step(const Step& step, Time now) {
  constexpr std::uint64_t most_steps = 100'000;
  if (now != stood_at_) steps_here_ = 0;
  stood_at_ = now;
  if (++steps_here_ <= most_steps) return;
  throw UserError(step.where, "tenant " + tenant_.name + " did 100000 steps in no simulated time",
                  "the loop never ends, or needs a launch, a copy or a delay");
}

bool TenantProgram::visit(const Step& step, const HostCycle& cycle) {
  switch (step.kind) {
    case Step::Kind::copy:
      return copy(step);
    case Step::Kind::launch:
      return launch(step, cycle.now);
    case Step::Kind::synchronize:
      return step.has_stream ? is_idle(step.stream) : all_idle();
    case Step::Kind::peer_copy:
      return peer_copy(step);
    case Step::Kind::prefetch:
      return prefetch(step);
    case Step::Kind::read:
    case Step::Kind::repeat_until:
      return touch(step, cycle);
    case Step::Kind::write:
      return write(step, cycle);
    case Step::Kind::fill:
      return fill(step, cycle);
    case Step::Kind::advise:
      return advise(step, cycle);
    case Step::Kind::save:
      return save(step, cycle);
    case Step::Kind::delay:
      return delay(step, cycle.now);
    case Step::Kind::free:
      return release(step, cycle);
    case Step::Kind::swap:
      buffers_.swap(step.buffer, step.other);
      return true;
    case Step::Kind::repeat_times:
      break;
  }
  LOCKSTEP_CHECK(false, "a loop is no step of its own");
}

bool TenantProgram::part(const Step& step, Operation& operation) const {
  operation.buffer = buffers_.meaning(step.buffer);
  buffers_.require_mapped(operation.buffer, step.where);
  const Buffer& declared = buffers_.declaration(operation.buffer);
  const auto [first, count] = part_of(step, declared, cursor_.variables(), tenant_.name);
  operation.offset = first * isa::bytes_of(declared.type);
  operation.bytes = count * isa::bytes_of(declared.type);
  if (step.kind == Step::Kind::copy)
    buffers_.require_mapped(operation.buffer, step.where, operation.offset, operation.bytes);
  return count > 0;
}

bool TenantProgram::copy(const Step& step) {
  Operation operation;
  if (!part(step, operation)) return true;
  operation.kind = Operation::Kind::copy;
  operation.to_gpu = step.to_gpu;
  operation.data = step.data;
  move(step, std::move(operation));
  return true;
}

bool TenantProgram::peer_copy(const Step& step) {
  Operation operation;
  operation.kind = Operation::Kind::peer_copy;
  operation.buffer = buffers_.meaning(step.buffer);
  operation.other = buffers_.meaning(step.other);
  buffers_.require_mapped(operation.buffer, step.where);
  buffers_.require_mapped(operation.other, step.where);
  const PeerParts parts =
      peer_parts_of(step, buffers_.declaration(operation.buffer),
                    buffers_.declaration(operation.other), cursor_.variables(), tenant_.name);
  if (parts.bytes == 0) return true;
  operation.offset = parts.from;
  operation.other_offset = parts.to;
  operation.bytes = parts.bytes;
  move(step, std::move(operation));
  return true;
}

void TenantProgram::move(const Step& step, Operation operation) {
  const std::uint32_t member = buffers_.member_of(operation.buffer);
  const std::uint64_t id = push(member, step.stream, std::move(operation));
  if (step.has_stream) return;
  waiting_operation_ = id;
  waiting_member_ = member;
}

std::uint64_t TenantProgram::push(std::uint32_t member, std::uint32_t stream, Operation operation) {
  const Member& there = team_[member];
  operation.id = there.services->next_operation();
  const std::uint64_t id = operation.id;
  there.streams->push(stream, std::move(operation));
  return id;
}

bool TenantProgram::all_idle() const {
  return std::all_of(team_.begin(), team_.end(),
                     [](const Member& member) { return member.streams->idle(); });
}

bool TenantProgram::is_idle(std::uint32_t stream) const {
  return std::all_of(team_.begin(), team_.end(),
                     [&](const Member& member) { return member.streams->idle(stream); });
}

bool TenantProgram::prefetch(const Step& step) {
  Operation operation;
  if (!part(step, operation)) return true;
  operation.kind = Operation::Kind::migrate;
  operation.to_gpu = step.to_gpu;
  push(tenant_.member, step.stream, std::move(operation));
  return true;
}

bool TenantProgram::delay(const Step& step, Time now) {
  if (step.is_start_of_collective) {
    pause(services_.collective_start, now);
    return true;
  }
  if (step.duration > longest_run - now)
    throw UserError(step.where, "the run would be longer than " + to_text(longest_run),
                    "no simulated time lies behind that");
  pause(step.duration, now);
  return true;
}

bool TenantProgram::advise(const Step& step, const HostCycle& cycle) {
  const BufferId buffer = buffers_.meaning(step.buffer);
  buffers_.require_mapped(buffer, step.where);
  const std::uint32_t allocation = buffers_.allocation(buffer);
  if (step.preferred) services_.managed.prefer(allocation, *step.preferred, cycle);
  if (step.read_mostly)
    for (const Member& member : team_)
      member.services->managed.read_mostly(member.buffers->allocation(buffer), *step.read_mostly);
  return true;
}

bool TenantProgram::release(const Step& step, const HostCycle& cycle) {
  const BufferId buffer = buffers_.meaning(step.buffer);
  buffers_.require_mapped(buffer, step.where);
  if (!all_idle()) return false;
  if (!step.is_part) return release_everywhere(buffer, cycle);
  Operation part_freed;
  return !part(step, part_freed) ||
         buffers_.release_part(buffer, part_freed.offset, part_freed.bytes, cycle);
}

bool TenantProgram::release_everywhere(BufferId buffer, const HostCycle& cycle) {
  if (team_.size() == 1) return buffers_.release(buffer, cycle);
  bool is_released = true;
  for (const Member& member : team_)
    if (member.buffers->is_mapped(buffer))
      is_released &=
          member.buffers->release(buffer, member.services->cycle_at(cycle.now, cycle.outbox));
  return is_released;
}

void TenantProgram::upload_variables() {
  std::vector<std::uint64_t> addresses;
  for (const BufferId variable : buffers_.variables())
    addresses.push_back(buffers_.address(variable).value());
  for (std::uint32_t g = 0; g < module_.globals.size(); ++g) {
    const isa::GlobalVariable& global = module_.globals[g];
    const std::vector<std::byte> image =
        initial_content(global, tenant_.workload, module_, addresses);
    if (image.empty()) continue;
    const BufferId buffer = buffers_.variables()[g];
    const std::span<std::byte> place = buffers_.host(buffer).at(0, image.size());
    std::copy(image.begin(), image.end(), place.begin());
    if (buffers_.memory_of(buffer) == MemoryKind::managed) continue;
    Operation upload;
    upload.kind = Operation::Kind::copy;
    upload.to_gpu = true;
    upload.buffer = buffer;
    upload.bytes = image.size();
    waiting_operation_ = push(tenant_.member, 0, std::move(upload));
    waiting_member_ = tenant_.member;
  }
}

void TenantProgram::cut_off() {
  timer_ = Time::never();
  waiting_operation_ = none;
}

void TenantProgram::start_over(Time when) {
  cursor_.start_over();
  timer_ = when;
  keeps_saved_ = false;
}

void TenantProgram::serialize(Archive& archive) {
  archive(cursor_, timer_, waiting_operation_, waiting_member_, stood_at_, steps_here_,
          steps_ended_, steps_told_, polls_, keeps_saved_, saved_);
}

}  // namespace lockstep
