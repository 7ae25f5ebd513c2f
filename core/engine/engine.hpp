#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/epoch.hpp"
#include "core/engine/graph.hpp"
#include "core/engine/options.hpp"
#include "core/engine/profile.hpp"
#include "core/engine/run_control.hpp"
#include "core/exec/communicator.hpp"
#include "core/time/time.hpp"

namespace lockstep {

class PartSink;
class PartSource;

struct RunSummary {
  Time end;               ///< simulated time that every component has reached
  bool finished = false;  ///< false: RunControl::agreed left the run
  // The rest may differ between two runs of the same scenario.
  std::uint64_t windows = 0;  ///< windows in which a component of this rank was called
  /// Exchanges between ranks (outer windows), also with a single rank.
  std::uint64_t exchanges = 0;
  double wall_seconds = 0;  ///< wall time of the simulation loop
  /// Share of the time in barriers, exchange and copying, without waiting for others.
  double synchronisation_share = 0;
  double imbalance_share = 0;  ///< share of the time spent waiting for slower threads and ranks
};

/// The run failed for a reason on this rank; what() is the message to print. Mistakes of users are
/// thrown as UserError.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown when another rank has failed and reports why: this rank ends silently.
class StoppedElsewhere : public std::runtime_error {
 public:
  StoppedElsewhere() : std::runtime_error("another rank failed") {}
};

/// Runs the components of a graph through simulated time.  Constructor, run, save and restore are
/// collective: every rank calls them.
class Engine {
 public:
  /// `communicator` and `graph` must outlive the engine.
  Engine(const Graph& graph, Assignment assignment, const ComponentFactory& factory,
         Communicator& communicator, EngineOptions options);
  ~Engine();

  /// Runs until the first epoch boundary at which all components are finished, or until stop_at.
  RunSummary run(EpochObserver& observer, RunControl& control);
  RunSummary run();
  /// Brings all components, after run() was left, to the earliest time that none has passed, and
  /// samples them as at an epoch. Returns that time. Collective; run() may go on afterwards.
  Time catch_up(EpochObserver& observer);

  /// Lets time go on after run(), if all components are finished, until all ranks say that the last
  /// messages of components have arrived. Returns whether all are finished. Collective.
  bool settle(const std::function<bool()>& has_arrived);

  /// Returns the components of this rank, by id.
  std::span<const LocalComponent> components() const;
  Communicator& communicator() const;
  const Profile& profile() const;
  /// Returns for a start-up note the kinds on the shortest cycle of links, which limits the
  /// windows, and its length: "sm -> partition -> sm: 121.951 ns"; "" without cycles. A cycle of
  /// kinds that `except` names is skipped.
  std::string limiting_cycle(std::span<const std::string> except = {}) const;

  /// Returns the cost of this rank's part of the run so far; called from RunControl::agreed.
  RunSummary so_far() const;

  /// Saves all state, independent of ranks and threads. Rank 0 hands the state to `sink`, which is
  /// nullptr elsewhere. Call it between windows only: from RunControl::agreed or outside run.
  /// Returns false if another rank failed, which throws the reason.
  [[nodiscard]] bool save(PartSink* sink);
  /// Restores state; every rank reads the parts that it needs. The run may stop at another time
  /// than the saved one.
  void restore(PartSource& source);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
