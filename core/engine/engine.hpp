#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/epoch.hpp"
#include "core/engine/graph.hpp"
#include "core/engine/run_control.hpp"
#include "core/exec/communicator.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// How windows are chosen.  Every choice ends in the same state; the others are there to prove
/// it, and to measure what the distances gain.
enum class Pacing : std::uint8_t {
  horizons,       ///< as far as the shortest paths allow
  random_cuts,    ///< windows end at random times before that
  shortest_link,  ///< no look at the distances: no window is longer than the shortest link
  one_activity,   ///< the reference: one instant at a time, no look at the distances
};

struct EngineOptions {
  int threads = 1;
  Time epoch = Time{10'000'000'000};  ///< sampled every so often (10 us); never() for no epochs
  Time stop_at = Time::never();       ///< end here even if components are not finished
  double progress_seconds = 0.5;      ///< wall time between two calls of RunControl::progress
  bool profile = false;               ///< record what each component costs in each window

  Pacing pacing = Pacing::horizons;
  bool shuffle = false;         ///< run the components of a window in random order
  std::uint64_t test_seed = 0;  ///< for random_cuts and shuffle
};

/// What one component cost in one window.
struct WindowCost {
  std::uint32_t window;
  std::uint32_t component;
  std::uint32_t nanoseconds;
};

/// What --profile records on this rank.
struct Profile {
  std::vector<std::uint64_t> component_nanoseconds;  ///< by component; 0 for those of other ranks
  std::vector<WindowCost> windows;                   ///< the first few million entries
};

struct RunSummary {
  Time end;               ///< every component stands here
  bool finished = false;  ///< false: RunControl::agreed left the run before its end
  // The rest may differ between two runs of the same scenario.
  std::uint64_t windows = 0;         ///< in which some component of this rank was called
  std::uint64_t exchanges = 0;       ///< between ranks (outer windows); counted for one rank too
  double wall_seconds = 0;           ///< of the simulation loop
  double synchronisation_share = 0;  ///< barriers, exchange, copying; without waiting for others
  double imbalance_share = 0;        ///< waiting for slower threads and ranks
};

/// The run failed for a reason that concerns this rank: what() is the one message to print.
/// User errors are thrown as they are.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Another rank failed and says why; end without a word.
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

  /// Until the first epoch boundary at which all components are finished, or stop_at.
  RunSummary run(EpochObserver& observer, RunControl& control);
  RunSummary run();

  /// The components of this rank, by id.
  std::span<const LocalComponent> components() const;
  Communicator& communicator() const;
  const Profile& profile() const;
  /// For a start-up note: the kinds on the shortest cycle of links, which limits the windows, and
  /// its length: "sm -> partition -> sm: 121.951 ns"; "" without cycles.  A cycle that touches only
  /// kinds named in `except` is passed over.
  std::string limiting_cycle(std::span<const std::string> except = {}) const;

  /// All state, without a trace of ranks or threads; written by rank 0.  Between windows only: from
  /// RunControl::agreed or outside run.
  void save(std::ostream& out);
  /// Every rank reads the same bytes.
  void restore(std::istream& in);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
