/// A tenant's life: it begins, walks its program, is measured, ends or is ended, and starts over.
/// Source: architecture.md, section 8 ("The host", "Tenants").
#include "models/host/tenant_run.hpp"

#include <iterator>
#include <numeric>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"

namespace lockstep {

TenantRun::TenantRun(const Tenant& tenant, std::uint16_t index, std::uint16_t module_index,
                     const isa::Module& module, bool capture)
    : tenant_(tenant),
      index_(index),
      module_index_(module_index),
      module_(module),
      capture_(capture),
      contents_(make_contents(tenant.workload)),
      cursor_(tenant.workload),
      names_(contents_.size()),
      buffers_(fresh_buffers()),
      timer_(tenant.arrival) {
  std::iota(names_.begin(), names_.end(), 0u);
}

/// A mistake of the tenant ends it, not the run.
void TenantRun::run(Time now, HostShared& shared, Outbox& outbox) {
  try {
    proceed(now, shared, outbox);
  } catch (const UserError& error) {
    violation(error.what(), now, shared, outbox);
  }
}

void TenantRun::proceed(Time now, HostShared& shared, Outbox& outbox) {
  if (timer_ <= now) timer_ = Time::never();
  if (phase_ == Phase::waiting) {
    if (now < tenant_.arrival || !begin(now, shared, outbox)) return;
  }
  if (phase_ == Phase::mapping) {
    if (!shared.driver.idle(index_)) return;
    phase_ = stopped_ ? Phase::finishing : Phase::running;
    if (!stopped_) upload_variables(shared);
  }
  bool moved = true;
  while (moved && phase_ != Phase::done && phase_ != Phase::waiting) {
    moved = advance_streams(now, shared, outbox);
    if (phase_ == Phase::running) {
      moved |= advance_program(now, shared, outbox);
    } else {
      moved |= finish(now, shared, outbox);
    }
  }
}

bool TenantRun::begin(Time now, HostShared& shared, Outbox& outbox) {
  if (!has_room(now, shared, outbox)) return false;
  phase_ = Phase::mapping;
  began_ = now;
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) map_buffer(b, now, shared, outbox);
  return true;
}

void TenantRun::instructions_reached(const InstructionCount& executed, Time now,
                                     HostShared& shared) {
  take_measure(executed, now, shared);
}

void TenantRun::take_measure(const InstructionCount& executed, Time now, const HostShared& shared) {
  if (is_settled()) return;
  measure_ = {executed, shared.statistics.far_faults[index_].value()};
  end_ = now;
}

void TenantRun::count_step(const Step& step, Time now) {
  constexpr std::uint64_t most_steps = 100'000;
  if (now != stood_at_) steps_here_ = 0;
  stood_at_ = now;
  if (++steps_here_ <= most_steps) return;
  throw UserError(step.where, "tenant " + tenant_.name + " did 100000 steps in no simulated time",
                  "the loop never ends, or needs a launch, a copy or a delay");
}

bool TenantRun::advance_program(Time now, HostShared& shared, Outbox& outbox) {
  if (timer_ != Time::never() || waiting_operation_ != 0) return false;
  const Step* step = cursor_.current();
  if (!step) {
    if (!streams_idle()) return false;
    phase_ = Phase::finishing;
    ++rounds_;
    take_measure(executed_, now, shared);
    return true;
  }
  if (!do_step(*step, now, shared, outbox)) return false;
  count_step(*step, now);
  if (step->kind == Step::Kind::repeat_until) {
    cursor_.answer(test(*step));
  } else {
    cursor_.advance();
  }
  return true;
}

bool TenantRun::finish(Time now, HostShared& shared, Outbox& outbox) {
  if (phase_ == Phase::finishing) {
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].mapped && !release(b, now, shared, outbox)) return false;
    }
    phase_ = Phase::leaving;
  }
  if (!shared.driver.idle(index_)) return false;
  shared.driver.end_tenant(index_, now, outbox);
  phase_ = Phase::done;
  if (tenant_.relaunch && !stopped_ && !failure_) start_over(now);
  return true;
}

void TenantRun::start_over(Time now) {
  if (now == began_) {
    throw UserError(tenant_.where,
                    "tenant " + tenant_.name +
                        " would start over for ever: its program takes no simulated time",
                    "give it a launch, a copy or a delay, or leave out relaunch");
  }
  if (first_ && capture_) first_round_ = std::move(buffers_);
  first_ = false;
  buffers_ = fresh_buffers();
  std::iota(names_.begin(), names_.end(), 0u);
  cursor_ = ProgramCursor(tenant_.workload);
  phase_ = Phase::waiting;
  timer_ = now;
}

void TenantRun::violation(const std::string& message, Time now, HostShared& shared,
                          Outbox& outbox) {
  if (failure_ || stopped_) return;
  if (!measure_) end_ = now;
  failure_ = message;
  cut_off(now, shared, outbox);
}

void TenantRun::stop(Time now, HostShared& shared, Outbox& outbox) {
  if (stopped_ || failure_ || done()) return;
  stopped_ = true;
  if (phase_ == Phase::waiting) phase_ = Phase::leaving;
  if (phase_ == Phase::running) cut_off(now, shared, outbox);
}

void TenantRun::cut_off(Time now, HostShared& shared, Outbox& outbox) {
  phase_ = Phase::finishing;
  timer_ = Time::never();
  waiting_operation_ = 0;
  // What has not begun never will; kernels under way are stopped, transfers end.
  for (auto stream = streams_.begin(); stream != streams_.end();) {
    auto& queue = stream->second;
    queue.resize(queue.front().started ? 1 : 0);
    stream = queue.empty() ? streams_.erase(stream) : std::next(stream);
  }
  shared.managed.forget_faults(index_);
  outbox.send(shared.to_dispatcher, now, kind_of(MessageKind::abort_tenant),
              TenantNotice{index_, {}});
}

std::string TenantRun::waiting_for() const {
  if (phase_ == Phase::done) return "";
  std::string text = "tenant " + tenant_.name;
  if (const Step* step = cursor_.current()) text += " at " + step->where;
  for (const auto& [number, queue] : streams_) {
    const Operation& head = queue.front();
    text += "; stream " + std::to_string(number) + " waits for ";
    text += head.kind == Operation::Kind::launch ? "grid " + std::to_string(head.launch.grid)
                                                 : "a transfer of " + std::to_string(head.buffer);
  }
  return text;
}

void TenantRun::BufferState::serialize(Archive& archive) {
  archive(host, address, allocation, mapped, held, is_captured, captured);
}

void TenantRun::Operation::serialize(Archive& archive) {
  archive(kind, started, to_gpu, id, buffer, offset, bytes);
  archive.bytes(&launch, sizeof launch);
  archive(parameters);
}

void TenantRun::serialize(Archive& archive) {
  archive(phase_, cursor_, names_, first_, stopped_, rounds_, began_);
  for (BufferState& state : buffers_) state.serialize(archive);
  if (!archive.is_saving() && !first_ && capture_) first_round_ = fresh_buffers();
  for (BufferState& state : first_round_) state.serialize(archive);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes;
  for (const auto& [number, queue] : streams_) sizes.emplace_back(number, queue.size());
  archive(sizes);
  if (!archive.is_saving()) streams_.clear();
  for (const auto& [number, size] : sizes) {
    std::deque<Operation>& queue = streams_[number];
    queue.resize(size);
    for (Operation& operation : queue) operation.serialize(archive);
  }
  archive(waiting_operation_, timer_, stood_at_, steps_here_, executed_, measure_, end_, saved_,
          failure_);
}

}  // namespace lockstep
