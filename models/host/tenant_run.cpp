#include "models/host/tenant_run.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "models/noc/progress.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

TenantRun::TenantRun(const Tenant& tenant, TenantId id, std::uint16_t module_index,
                     const isa::Module& module, bool capture, TenantServices& services)
    : tenant_(tenant),
      id_(id),
      module_index_(module_index),
      services_(services),
      buffers_(tenant, id, module, capture, services),
      streams_(tenant, id, buffers_, capture, services),
      program_(tenant, id, module_index, module, buffers_, streams_, services) {}

void TenantRun::join(const std::vector<TenantRun*>& team) {
  team_ = team;
  std::vector<TenantProgram::Member> members;
  std::vector<TenantBuffers*> buffers;
  for (TenantRun* run : team) {
    members.push_back(
        {&run->buffers_, &run->streams_, &run->services_, run->id_, run->module_index_});
    buffers.push_back(&run->buffers_);
  }
  for (TenantRun* run : team) {
    run->home_ = this;
    run->buffers_.join(buffers);
    run->streams_.join({buffers.begin(), buffers.end()});
  }
  program_.join(std::move(members));
}

/// A mistake of the tenant ends it, not the run.
void TenantRun::run(const HostCycle& cycle) {
  if (is_guest()) return home_->run(cycle_of(*home_, cycle));
  try {
    proceed(cycle);
  } catch (const UserError& error) {
    violation(error.what(), cycle);
  }
}

void TenantRun::proceed(const HostCycle& cycle) {
  program_.look_at_timer(cycle.now);
  if (tenant_.cpu) return;
  if (phase_ == Phase::waiting) {
    if (cycle.now < next_arrival() || !begin(cycle)) return;
  }
  if (phase_ == Phase::mapping) {
    if (!drivers_are_idle()) return;
    phase_ = stopped_ ? Phase::finishing : Phase::running;
    if (!stopped_) program_.upload_variables();
  }
  bool moved = true;
  while (moved && phase_ != Phase::done && phase_ != Phase::waiting) {
    moved = advance_streams(cycle);
    moved |= phase_ == Phase::running ? advance(cycle) : finish(cycle);
  }
}

bool TenantRun::begin(const HostCycle& cycle) {
  if (!all_have_room(cycle)) return false;
  phase_ = Phase::mapping;
  began_ = cycle.now;
  if (arrivals_.size() < tenant_.arrivals.size())
    arrivals_.push_back({next_arrival(), cycle.now, Time::never()});
  map_everywhere(cycle);
  return true;
}

bool TenantRun::all_have_room(const HostCycle& cycle) const {
  bool have = true;
  for (const TenantRun* run : team_) have &= run->buffers_.has_room(cycle_of(*run, cycle));
  return have;
}

/// A buffer is placed first; then other GPUs get its address.
void TenantRun::map_everywhere(const HostCycle& cycle) {
  if (team_.size() == 1) return buffers_.map_all(cycle);
  for (std::uint32_t b = 0; b < buffers_.count(); ++b) {
    const BufferId buffer{b};
    TenantRun& first = *team_[buffers_.member_of(buffer)];
    first.buffers_.map(buffer, cycle_of(first, cycle));
    for (TenantRun* run : team_) {
      if (run == &first) continue;
      if (run->buffers_.memory_of(buffer) == MemoryKind::device) {
        run->buffers_.map_peer(buffer, first.buffers_, cycle_of(*run, cycle));
      } else {
        run->buffers_.map(buffer, cycle_of(*run, cycle));
        LOCKSTEP_CHECK(run->buffers_.address(buffer) == first.buffers_.address(buffer),
                       "a buffer has another address on another GPU");
      }
    }
  }
}

bool TenantRun::release_everywhere(const HostCycle& cycle) {
  bool are_released = true;
  for (TenantRun* run : team_) are_released &= run->buffers_.release_all(cycle_of(*run, cycle));
  return are_released;
}

bool TenantRun::advance_streams(const HostCycle& cycle) {
  bool moved = false;
  for (TenantRun* run : team_) moved |= run->streams_.advance(cycle_of(*run, cycle));
  return moved;
}

bool TenantRun::drivers_are_idle() const {
  return std::all_of(team_.begin(), team_.end(),
                     [](const TenantRun* run) { return run->services_.driver.idle(run->id_); });
}

bool TenantRun::advance(const HostCycle& cycle) {
  if (!program_.is_over()) return program_.advance(cycle);
  phase_ = Phase::finishing;
  if (rounds_ < tenant_.arrivals.size()) arrivals_.back().ended = cycle.now;
  ++rounds_;
  if (rounds_ >= tenant_.arrivals.size()) measure(executed_, cycle);
  return true;
}

void TenantRun::core_measured(const CoreMeasured& measured) {
  measure_ = {{measured.instructions, measured.instructions}, 0};
  end_ = measured.at;
  compared_ = measured.compared;
}

void TenantRun::instructions_reached(const InstructionCount& executed, const HostCycle& cycle) {
  measure(executed, cycle);
}

void TenantRun::measure(const InstructionCount& executed, const HostCycle& cycle) {
  if (is_settled()) return;
  std::uint64_t far_faults = 0;
  for (const TenantRun* run : team_)
    far_faults += cycle_of(*run, cycle).statistics.far_faults[run->id_.value()].value();
  measure_ = {executed, far_faults};
  end_ = cycle.now;
}

bool TenantRun::finish(const HostCycle& cycle) {
  if (phase_ == Phase::finishing) {
    const bool any_mapped = std::any_of(team_.begin(), team_.end(), [](const TenantRun* run) {
      return run->buffers_.any_mapped();
    });
    if (any_mapped && !program_.all_idle()) return false;
    if (!release_everywhere(cycle)) return false;
    phase_ = Phase::leaving;
  }
  if (!drivers_are_idle()) return false;
  for (TenantRun* run : team_) run->services_.driver.end_tenant(run->id_, cycle_of(*run, cycle));
  phase_ = Phase::done;
  if (starts_again()) start_over(cycle.now);
  return true;
}

void TenantRun::start_over(Time now) {
  if (now == began_ && tenant_.relaunch) {
    throw UserError(tenant_.where,
                    "tenant " + tenant_.name +
                        " would start over for ever: its program takes no simulated time",
                    "give it a launch, a copy or a delay, or leave out relaunch");
  }
  first_ = false;
  for (TenantRun* run : team_) run->buffers_.start_over();
  program_.start_over(std::max(now, next_arrival()));
  phase_ = Phase::waiting;
}

void TenantRun::violation(const std::string& message, const HostCycle& cycle) {
  if (is_guest()) return home_->violation(message, cycle_of(*home_, cycle));
  if (failure_ || stopped_) return;
  if (!measure_) end_ = cycle.now;
  failure_ = message;
  buffers_.stop_capturing();
  cut_off(cycle);
}

void TenantRun::stop(const HostCycle& cycle) {
  if (is_guest() || stopped_ || failure_ || done()) return;
  stopped_ = true;
  if (tenant_.cpu) {
    phase_ = Phase::done;
    return;
  }
  if (rounds_ == 0) buffers_.stop_capturing();
  if (phase_ == Phase::waiting) phase_ = Phase::leaving;
  if (phase_ == Phase::running) cut_off(cycle);
}

/// Cuts the run off: work that has not begun never will, kernels under way are stopped, transfers
/// end.
void TenantRun::cut_off(const HostCycle& cycle) {
  phase_ = Phase::finishing;
  program_.cut_off();
  for (TenantRun* run : team_) {
    run->streams_.cut_off();
    run->services_.managed.forget_faults(run->id_);
    cycle.outbox.send(run->services_.to_dispatcher, cycle.now, kind_of(MessageKind::abort_tenant),
                      TenantNotice{run->id_.value(), {}});
  }
}

void TenantRun::operation_done(std::uint64_t operation) {
  home_->program_.operation_done(operation, tenant_.member);
  streams_.operation_done(operation);
}

void TenantRun::grid_done(const GridDone& done, const HostCycle& cycle) {
  home_->executed_ += done.executed;
  streams_.grid_done(GridId{done.grid}, cycle);
}

std::uint8_t TenantRun::take_progress(bool transfers) {
  if (tenant_.cpu || done()) return 0;
  if (is_guest()) return progress::unfinished | (transfers ? progress::stepped : 0);
  return progress::unfinished | (program_.take_steps(transfers) ? progress::stepped : 0);
}

std::string TenantRun::waiting_for() const {
  if (done()) return "";
  if (is_guest()) return "tenant " + tenant_.name + streams_.waiting_for();
  const std::string where = program_.where();
  return "tenant " + tenant_.name + (where.empty() ? "" : " at " + where) + streams_.waiting_for();
}

void TenantRun::serialize(Archive& archive) {
  archive(phase_, first_, stopped_, rounds_, began_, executed_, arrivals_, measure_, end_, failure_,
          compared_, misread_, buffers_, streams_, program_);
}

}  // namespace lockstep
