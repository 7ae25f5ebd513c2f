/// Model of the speedup of a run on more workers.
///
/// Each window takes the time of its busiest worker and of a synchronisation; on several ranks, the
/// time of its busiest rank and of an exchange.  A rank with too little work in a window to share
/// it runs on one thread there.  In each recorded window the components' measured costs are dealt
/// out to threads, the longest first to the thread with the least; they are dealt to ranks once, so
/// that each gets the same cost of every kind.  Ranks that have whole GPUs meet after as many
/// windows as the recorded run counted for such ranks; other ranks meet after each window.  The
/// time for collecting an epoch stays the same, and all threads share the time for sampling it.
/// Rows are written to the file by the clock of this computer, or when there is no more room for
/// them, so that a faster run writes less often.
///
/// Simplified: moving state between cores costs nothing, cores do not slow each other down, an
/// exchange costs the same for every cut, and the gain of cores from their own caches is the same
/// for every machine and number of cores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/profile/measured_windows.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

constexpr int most_workers = 1024;  ///< largest number of workers with a prediction

struct Prediction {
  int ranks = 1, threads = 1;
  double speedup = 1;  ///< speedup over one worker
  std::string limit;   ///< name of the largest part of the time beyond an equal share of the work
};

class SpeedupModel {
 public:
  /// Makes a model of a run on one rank, with all components in `windows`.
  SpeedupModel(const std::vector<ComponentCostRow>& components, std::vector<WindowCostRow> windows,
               const std::vector<RankRow>& ranks);
  // Windows refer to the rows, which a copy would have elsewhere.
  SpeedupModel(SpeedupModel&&) = default;

  Prediction predict(int ranks, int threads) const;

 private:
  struct Losses;
  std::vector<int> deal_to_ranks(int ranks) const;
  using Stretch = std::span<const MeasuredWindow>;
  /// Returns the time for writing rows to the file in a run that takes `others` without it.
  double flushing_nanoseconds(double others) const;
  /// Returns how many windows ranks go through between two meetings.
  std::size_t windows_between_meetings(int ranks) const;
  /// Returns the time of windows after which ranks meet, beside the exchange; adds to the losses.
  double stretch_nanoseconds(Stretch windows, const std::vector<int>& home, int ranks, int threads,
                             Losses& losses) const;

  const std::vector<ComponentCostRow>& components_;
  std::vector<WindowCostRow> rows_;  ///< rows of each window, longest first
  std::vector<MeasuredWindow> windows_;
  double in_windows_ = 0;  ///< time in windows, ns
  /// Times at epochs in the recorded windows, ns: rank 0 collects what all ranks have counted; each
  /// rank samples its own components.
  double collecting_ = 0, sampling_ = 0;
  double flush_ = 0, between_flushes_ = 0;  ///< ns in the recorded windows
  double least_flushes_ = 0, most_flushes_ = 0;
  std::size_t apart_ = 1;  ///< windows between two meetings of ranks that have whole GPUs
};

/// Returns the predictions for 2 to 1024 threads.
std::vector<SpeedupRow> predicted_speedups(const std::vector<ComponentCostRow>& components,
                                           const std::vector<WindowCostRow>& windows,
                                           const std::vector<RankRow>& ranks);

}  // namespace lockstep
