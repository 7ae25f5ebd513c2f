/// Run of one application: it begins, executes its program, is measured, ends or is ended, and
/// starts over.  An application on a CPU core runs by itself until all have been measured.
///
/// With `arrivals:` the program starts several times with fresh buffers, and has been measured when
/// the last of these starts has ended.
///
/// A run consists of buffers (tenant_buffers.hpp), streams (tenant_streams.hpp) and the program's
/// steps (tenant_program.hpp).  A tenant whose kernel accesses memory outside of its buffers is
/// ended; the others go on.  A tenant is measured when its program ends for the first time, or when
/// blocks that are done have executed its `instructions:`, whichever comes first.  From then on the
/// tenant only keeps up contention: it continues its program, with `relaunch` in further rounds
/// with fresh buffers, until all have been measured.
/// Source: architecture.md, sections 4 and 8 ("The host", "Tenants").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/host/tenant_program.hpp"
#include "models/noc/core_messages.hpp"

namespace lockstep {

class Archive;

/// Measured results of a tenant.
struct TenantMeasure {
  InstructionCount executed;
  std::uint64_t far_faults = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(executed, far_faults);
  }
};

/// Start of a tenant's program.
struct ArrivalRecord {
  Time arrival, began, ended = Time::never();

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrival, began, ended);
  }
};

class TenantRun {
 public:
  TenantRun(const Tenant& tenant, TenantId id, std::uint16_t module_index,
            const isa::Module& module, bool capture, TenantServices& services);
  TenantRun(const TenantRun&) = delete;
  TenantRun& operator=(const TenantRun&) = delete;

  /// Joins the runs of the tenant on all its GPUs (`team`); the first one, this run, executes the
  /// program.
  void join(const std::vector<TenantRun*>& team);
  /// Returns whether the run has no program of its own, because the run on the first of the
  /// tenant's GPUs has it.
  bool is_guest() const { return home_ != this; }

  /// Does everything that can be done now.
  void run(const HostCycle& cycle);
  /// Returns when the tenant goes on without a message.
  Time wake() const { return is_guest() ? Time::never() : program_.wake(); }

  // Events that the tenant's run is told of.
  void operation_done(std::uint64_t operation);
  void grid_done(const GridDone& done, const HostCycle& cycle);
  void core_measured(const CoreMeasured& measured);
  void core_mistaken(const CoreMistaken& mistaken) { misread_ = mistaken.offset; }
  void instructions_reached(const InstructionCount& executed, const HostCycle& cycle);
  /// Ends the tenant because of a mistake in its program, and keeps the first such message.
  void violation(const std::string& message, const HostCycle& cycle);
  /// Ends further work of the tenant, since all tenants have been measured.
  void stop(const HostCycle& cycle);

  bool done() const { return home_->phase_ == Phase::done; }
  /// Returns whether the program has ended or was cut off, so that the tenant's GPU memory becomes
  /// free.
  bool is_leaving() const {
    return home_->phase_ == Phase::finishing || home_->phase_ == Phase::leaving;
  }
  /// Returns whether the machine need not wait for the tenant any more: it has been measured, or
  /// has failed.
  bool is_settled() const { return home_->measure_ || home_->failure_; }
  const std::optional<std::string>& failure() const { return failure_; }
  const std::optional<TenantMeasure>& measure() const { return measure_; }
  /// Starts of the program, apart from those of `relaunch`.
  const std::vector<ArrivalRecord>& arrivals() const { return arrivals_; }
  /// Returns how often the program has come to its end.
  std::uint32_t rounds() const { return rounds_; }
  bool is_stopped() const { return stopped_; }
  /// Returns the number of lines that a tenant on a CPU core compared until it was measured.
  /// misread(): offset of the first line whose bytes differed from those that the tenant had
  /// written.
  std::uint64_t compared() const { return compared_; }
  const std::optional<std::uint64_t>& misread() const { return misread_; }
  /// Returns when the tenant was measured, or had failed before.
  Time end() const { return end_; }
  std::string waiting_for() const;
  /// Returns the progress of the program since the last call; `transfers`: its bytes cross the
  /// link.
  std::uint8_t take_progress(bool transfers);
  /// Notes that the tenant made progress at the GPU.
  void got_on() { home_->program_.got_on(); }

  TenantBuffers& buffers() { return buffers_; }
  const TenantStreams& streams() const { return streams_; }
  const std::vector<TenantProgram::Saved>& saved() const { return program_.saved(); }
  /// Returns whether the first round has left the bytes that are to be checked.
  bool first_round_over() const { return !first_ || (done() && rounds_ > 0); }

  void serialize(Archive& archive);

 private:
  enum class Phase : std::uint8_t { waiting, mapping, running, finishing, leaving, done };

  void proceed(const HostCycle& cycle);
  /// Returns the HostCycle of the run on another GPU; `cycle`: that of this one.
  HostCycle cycle_of(const TenantRun& run, const HostCycle& cycle) const {
    return &run == this ? cycle : run.services_.cycle_at(cycle.now, cycle.outbox);
  }
  bool all_have_room(const HostCycle& cycle) const;
  void map_everywhere(const HostCycle& cycle);
  bool release_everywhere(const HostCycle& cycle);
  bool advance_streams(const HostCycle& cycle);
  /// Returns whether nothing of the tenant is being mapped or unmapped on any GPU.
  bool drivers_are_idle() const;
  /// Returns false while there is no room for the tenant's buffers.
  bool begin(const HostCycle& cycle);
  bool advance(const HostCycle& cycle);
  bool finish(const HostCycle& cycle);
  void measure(const InstructionCount& executed, const HostCycle& cycle);
  /// The program ends where it stands.
  void cut_off(const HostCycle& cycle);
  void start_over(Time now);
  /// Returns when the next start is due; starts of `relaunch` are at once.
  Time next_arrival() const {
    return rounds_ < tenant_.arrivals.size() ? tenant_.arrivals[rounds_] : Time::zero();
  }
  bool starts_again() const {
    return !stopped_ && !failure_ && (tenant_.relaunch || rounds_ < tenant_.arrivals.size());
  }

  const Tenant& tenant_;
  const TenantId id_;
  const std::uint16_t module_index_;
  TenantServices& services_;
  TenantBuffers buffers_;
  TenantStreams streams_;
  TenantProgram program_;
  TenantRun* home_ = this;
  std::vector<TenantRun*> team_{this};

  Phase phase_ = Phase::waiting;
  bool first_ = true;  ///< true in the first round
  bool stopped_ = false;
  std::uint32_t rounds_ = 0;   ///< number of times the program has ended
  Time began_;                 ///< start of this round
  InstructionCount executed_;  ///< instructions in grids that are done
  std::vector<ArrivalRecord> arrivals_;
  std::optional<TenantMeasure> measure_;
  Time end_ = Time::never();
  std::optional<std::string> failure_;
  std::uint64_t compared_ = 0;
  std::optional<std::uint64_t> misread_;
};

}  // namespace lockstep
