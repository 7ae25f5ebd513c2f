#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/distance.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/failure.hpp"
#include "core/engine/inside_distances.hpp"
#include "core/engine/meeting.hpp"
#include "core/engine/meetings_apart.hpp"
#include "core/engine/window/window.hpp"
#include "core/exec/executor.hpp"

namespace lockstep {

struct Engine::State {
  /// Bit among the requests: the observer of rank 0 wants the reasons for which components wait.
  static constexpr unsigned account_wanted = 1u << 15;
  /// Longest wall time between two meetings, nanoseconds.
  static constexpr double meet_at_least_every = 20e6;

  State(const Graph& graph, Assignment assignment, const ComponentFactory& factory,
        Communicator& communicator, EngineOptions options);

  // window_loop.cpp
  RunSummary run(EpochObserver& observer, RunControl& control);
  void run_outer_window(const Agreement& agreed);
  /// Sets `horizons` for the next window.
  void choose_horizons(const std::vector<Time>& outer);
  bool finish_boundary(EpochObserver& observer);
  Time catch_up(EpochObserver& observer);
  bool settle(const std::function<bool()>& has_arrived);
  bool are_finished() const;
  Time furthest() const;
  Time boundary_after(Time activity) const;
  Agreement meet(const Agreement& own);
  void run_window();

  // failing.cpp
  void build_components(const ComponentFactory& factory);
  void guard(const std::function<void()>& action);
  [[noreturn]] void fail(const Failure& failure) const;
  void stop_if_failed(const Agreement& agreed);
  [[noreturn]] void report_stall();
  /// Returns on rank 0 what components of all ranks wait for. Collective.
  std::string gather_waiting();
  void give_account(EpochObserver& observer);

  // engine.cpp
  Agreement own_view() const;
  bool serve_requests(RunControl& control, unsigned bits);
  /// Lets all components reach the boundary, and samples them there.
  void sample(EpochObserver& observer);
  void report_progress(RunControl& control, const Agreement& agreed);
  RunSummary summary(bool finished) const;
  TicksSpent spent() const;
  Profile make_profile() const;

  /// Serialises the state that belongs to no component (checkpoint.cpp).
  void serialize(Archive& archive);

  const Graph& graph;
  const Assignment assignment;
  Communicator& communicator;
  const EngineOptions options;
  const double ticks_per_nanosecond;
  std::vector<std::unique_ptr<Component>> owned;
  std::vector<LocalComponent> components;
  Meeting meeting;
  InsideDistances inside;          ///< distances within this rank
  const Distances across;          ///< distances over at least one link between ranks
  std::optional<Failure> failure;  ///< failure outside of components
  std::optional<Window> window;    ///< the window loop; exists when the components do
  std::unique_ptr<Executor> executor;
  std::vector<Time> horizons;  ///< horizon of each kind in the next window
  /// Time that each local component had reached when it was restored.  Components of one kind may
  /// differ, since different ranks may have saved them.
  std::vector<Time> restored;
  Time boundary;      ///< time at which all components meet next; zero before the run
  Time boundary_for;  ///< activity for which the boundary was chosen
  WindowTimesRecorder window_times;  ///< recorder of window times, used with options.profile
  std::optional<MeetingsApart> meetings_apart;
  Profile profile;
  std::uint64_t run_began = 0;       ///< start of the run, in ticks
  std::uint64_t observer_ticks = 0;  ///< at boundaries, outside of windows
  std::uint64_t next_progress = 0;
  std::uint32_t cuts = 0;  ///< random cuts drawn so far, for Pacing::random_cuts
};

}  // namespace lockstep
