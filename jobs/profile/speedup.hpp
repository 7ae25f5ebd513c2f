/// How much faster a run would be on more workers.
///
/// Each window takes as long as its busiest worker, and a synchronisation; on several ranks as its
/// busiest rank, and an exchange; one that is not worth sharing runs on one thread.  The
/// components' measured costs are dealt out anew in each window that was recorded, longest first,
/// to the thread with the least; to ranks once, so that each gets the same cost of every kind.
/// Ranks that have whole GPUs meet after as many windows as the run that was recorded counted for
/// such ranks; others after each window.  What an epoch takes to be written stays as it is, and
/// what its sampling takes is shared by the ranks.
///
/// Simplified: moving state between cores costs nothing, cores do not slow each other down, an
/// exchange costs the same whatever is cut, and what cores gain from caches of their own is the
/// same for every machine and any number of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

constexpr int most_workers = 1024;  ///< that are predicted for

struct Prediction {
  int ranks = 1, threads = 1;
  double speedup = 1;  ///< over one worker
  std::string limit;   ///< the largest part of the time beyond an equal share of the work
};

class SpeedupModel {
 public:
  /// Model of a run on one rank, whose components are all in `windows`.
  SpeedupModel(const std::vector<ComponentCostRow>& components, std::vector<WindowCostRow> windows,
               const std::vector<RankRow>& ranks);

  Prediction predict(int ranks, int threads) const;

 private:
  struct Losses;
  struct MeasuredWindow {
    std::size_t first, last;  ///< its rows
    double weight;            ///< number of windows that it stands for
    double nanoseconds;       ///< of all of them
  };
  std::vector<int> deal_to_ranks(int ranks) const;
  using Stretch = std::span<const MeasuredWindow>;
  /// Returns how many windows ranks go through between two meetings.
  std::size_t windows_between_meetings(int ranks) const;
  /// Returns the time of windows after which ranks meet, beside the exchange; adds to the losses.
  double stretch_nanoseconds(Stretch windows, const std::vector<int>& home, int ranks, int threads,
                             Losses& losses) const;

  const std::vector<ComponentCostRow>& components_;
  const std::vector<WindowCostRow> rows_;  ///< within a window, longest first
  std::vector<MeasuredWindow> windows_;    ///< those with the same weight one behind the other
  double in_windows_ = 0;                  ///< ns
  /// Nanoseconds at epochs, as a part of the windows that were recorded: rank 0 writes what all
  /// have counted; each rank asks its own components.
  double writing_ = 0, sampling_ = 0;
  std::size_t apart_ = 1;  ///< windows between two meetings of ranks that have whole GPUs
};

/// Returns the predictions for 2 to 1024 threads.
std::vector<SpeedupRow> predicted_speedups(const std::vector<ComponentCostRow>& components,
                                           const std::vector<WindowCostRow>& windows,
                                           const std::vector<RankRow>& ranks);

}  // namespace lockstep
