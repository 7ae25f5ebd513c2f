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
      services_(services),
      buffers_(tenant, id, module, capture, services),
      streams_(tenant, id, buffers_, capture, services),
      program_(tenant, id, module_index, module, buffers_, streams_, services) {}

/// A mistake of the tenant ends it, not the run.
void TenantRun::run(const HostCycle& cycle) {
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
    if (!services_.driver.idle(id_)) return;
    phase_ = stopped_ ? Phase::finishing : Phase::running;
    if (!stopped_) program_.upload_variables();
  }
  bool moved = true;
  while (moved && phase_ != Phase::done && phase_ != Phase::waiting) {
    moved = streams_.advance(cycle);
    moved |= phase_ == Phase::running ? advance(cycle) : finish(cycle);
  }
}

bool TenantRun::begin(const HostCycle& cycle) {
  if (!buffers_.has_room(cycle)) return false;
  phase_ = Phase::mapping;
  began_ = cycle.now;
  if (arrivals_.size() < tenant_.arrivals.size())
    arrivals_.push_back({next_arrival(), cycle.now, Time::never()});
  buffers_.map_all(cycle);
  return true;
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
  measure_ = {executed, cycle.statistics.far_faults[id_.value()].value()};
  end_ = cycle.now;
}

bool TenantRun::finish(const HostCycle& cycle) {
  if (phase_ == Phase::finishing) {
    if (buffers_.any_mapped() && !streams_.idle()) return false;
    if (!buffers_.release_all(cycle)) return false;
    phase_ = Phase::leaving;
  }
  if (!services_.driver.idle(id_)) return false;
  services_.driver.end_tenant(id_, cycle);
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
  buffers_.start_over();
  program_.start_over(std::max(now, next_arrival()));
  phase_ = Phase::waiting;
}

void TenantRun::violation(const std::string& message, const HostCycle& cycle) {
  if (failure_ || stopped_) return;
  if (!measure_) end_ = cycle.now;
  failure_ = message;
  buffers_.stop_capturing();
  cut_off(cycle);
}

void TenantRun::stop(const HostCycle& cycle) {
  if (stopped_ || failure_ || done()) return;
  stopped_ = true;
  if (tenant_.cpu) {
    phase_ = Phase::done;
    return;
  }
  if (rounds_ == 0) buffers_.stop_capturing();
  if (phase_ == Phase::waiting) phase_ = Phase::leaving;
  if (phase_ == Phase::running) cut_off(cycle);
}

/// Work that has not begun never will; kernels under way are stopped, transfers end.
void TenantRun::cut_off(const HostCycle& cycle) {
  phase_ = Phase::finishing;
  program_.cut_off();
  streams_.cut_off();
  services_.managed.forget_faults(id_);
  cycle.outbox.send(services_.to_dispatcher, cycle.now, kind_of(MessageKind::abort_tenant),
                    TenantNotice{id_.value(), {}});
}

void TenantRun::operation_done(std::uint64_t operation) {
  program_.operation_done(operation);
  streams_.operation_done(operation);
}

void TenantRun::grid_done(const GridDone& done, const HostCycle& cycle) {
  executed_ += done.executed;
  streams_.grid_done(GridId{done.grid}, cycle);
}

std::uint8_t TenantRun::take_progress(bool transfers) {
  if (tenant_.cpu || done()) return 0;
  return progress::unfinished | (program_.take_steps(transfers) ? progress::stepped : 0);
}

std::string TenantRun::waiting_for() const {
  if (phase_ == Phase::done) return "";
  const std::string where = program_.where();
  return "tenant " + tenant_.name + (where.empty() ? "" : " at " + where) + streams_.waiting_for();
}

void TenantRun::serialize(Archive& archive) {
  archive(phase_, first_, stopped_, rounds_, began_, executed_, arrivals_, measure_, end_, failure_,
          compared_, misread_, buffers_, streams_, program_);
}

}  // namespace lockstep
