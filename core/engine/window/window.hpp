#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/epoch.hpp"
#include "core/engine/options.hpp"
#include "core/engine/profile.hpp"
#include "core/engine/window/share.hpp"
#include "core/engine/window/slot.hpp"
#include "core/engine/window/worker.hpp"
#include "core/exec/executor.hpp"

namespace lockstep {

/// Components of this rank, with the state needed to run one window after the other.
class Window final : public WindowTasks {
 public:
  Window(const Graph& graph, const Assignment& assignment, int rank,
         const std::vector<int>& neighbours, std::span<const LocalComponent> components,
         const EngineOptions& options);

  /// Lets every component simulate up to the horizon of its kind.
  void run(Executor& executor, const std::vector<Time>& horizons);
  /// Runs as run() does, and also calls components that have nothing to do. `observer`: looks at
  /// each component afterwards, on the thread that ran it; may be nullptr.
  void run_everyone(Executor& executor, Time horizon, EpochObserver* observer);

  /// Returns the earliest activity of each kind on this rank, messages on their way to the rank
  /// included.
  const std::vector<Time>& next() const { return next_; }
  /// Returns the time that the components of each kind have reached.
  const std::vector<Time>& reached() const { return reached_; }
  std::uint64_t windows() const { return counted_windows_; }
  /// Returns the number of the last window; windows at boundaries count too.
  std::uint64_t number() const { return window_; }

  /// Returns whether any component failed, and the failure to report.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  std::optional<Failure> failure() const;

  /// Collects messages to other ranks since the last call: `into[i]` for neighbour i.  Lowers
  /// `sent` (by kind) to their arrivals.
  void collect_remote(std::span<std::vector<std::byte>> into, std::vector<Time>& sent);
  /// Delivers messages from another rank, in the form that collect_remote() writes.
  void deliver(std::span<const std::byte> bytes);

  /// Moves all mail into the slots, so that they have every message; reads next_activity again.
  void settle();
  std::span<Slot> slots() { return slots_; }
  std::span<const Slot> slots() const { return slots_; }
  void set_reached(std::vector<Time> reached) { reached_ = std::move(reached); }

  /// Ticks that copying and sorting messages took, per thread (estimated from a sample).
  double copying_ticks() const;
  /// Returns the ticks that observers took to look at components, summed over the threads.
  std::uint64_t looking_ticks() const;
  Profile profile(double ticks_per_nanosecond) const;

  void fetch(std::uint32_t share, std::uint64_t number) const override;
  void fetch_outcome() const override;
  std::uint32_t open(std::uint32_t share, std::uint32_t thread) override;
  void run(std::uint32_t share, std::uint32_t first, std::uint32_t last,
           std::uint32_t thread) override;

 private:
  void prepare_workers(const Graph& graph, const Assignment& assignment, int rank,
                       const std::vector<int>& neighbours, int threads);
  void run_window(Executor& executor);
  Worker& enter(std::uint32_t thread);
  void hand_out_mail(Share& share, std::uint32_t index);
  void order_longest_first(Share& share);
  void shuffle(Share& share, std::uint32_t index);
  void fetch_messages(const Share& share, std::uint32_t position) const;
  static void fetch_places(const Share& share, std::uint32_t position);
  void run_component(Share& share, std::uint32_t position, Worker& worker);
  void advance(Share& share, std::uint32_t position, Worker& worker);
  void look_at(const Slot& slot, Worker& worker);
  Inbox build_inbox(Share& share, std::uint32_t position, Worker& worker);

  // The interval is odd: often every second window runs SMs, and partitions run in the others.
  static constexpr std::uint64_t sample_interval = 17;
  /// Number of first windows that are all recorded, so that short runs have a profile.
  static constexpr std::uint64_t profiled_at_first = 32 * sample_interval;
  /// Length in ticks (about 0.1 ms) from which a profile records each step. Such steps are so few
  /// that a sample would miss them.
  static constexpr std::uint64_t long_step = 1 << 18;
  static constexpr std::uint64_t ordering_interval = 1024;

  std::vector<Slot> slots_;               ///< slot of each component of this rank
  std::vector<std::uint32_t> local_;      ///< slot of each component, by its number
  std::vector<std::uint32_t> positions_;  ///< position of each slot in its share
  std::vector<Share> shares_;
  std::vector<std::unique_ptr<Worker>> workers_;
  /// From other ranks.
  struct Arrivals {
    Mailbag bag;
    std::vector<MailTarget> targets;  ///< target of each slot
  };
  std::array<Arrivals, 2> arrivals_;
  CacheAlignedVector<Time> arrivals_floor_;
  std::vector<Time> next_, reached_, horizons_;
  std::vector<std::uint64_t> component_ticks_;
  const double clock_cost_;            ///< ticks that it takes to measure a stretch
  const double ticks_per_nanosecond_;  ///< conversion for a profile
  const bool profiling_;
  const bool shuffle_;
  const std::uint64_t seed_;
  std::atomic<bool> failed_{false};
  // Number of the window, written between windows and read in them by all threads.
  alignas(sharing_bytes) std::uint64_t window_ = 0;
  std::uint64_t counted_windows_ = 0;
  /// true: every component is called, whether or not it has something to do.
  bool everyone_ = false;
  EpochObserver* observer_ = nullptr;  ///< looks at the components of this window, if any
  /// Number of windows for which this one is the sample; 0: not measured.
  std::uint64_t weight_ = 0;
};

}  // namespace lockstep
