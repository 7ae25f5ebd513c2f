/// Windows of a profile, complete: the steps of a sample of windows, and long steps of all windows.
///
/// A profile has all steps of each sampled window, which stands for its neighbours, and each long
/// step of any window.  A window with a long step has short ones as well, which the profile does
/// not have unless the window is in the sample.  So its long steps join the short ones of a sampled
/// window nearby: of the one before and the one after, that in which more of the same components
/// took part (often every second window runs SMs, and partitions run in the others).  The sampled
/// window then stands for one window less.
///
/// Source: own choice.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "jobs/tables.hpp"

namespace lockstep {

/// Steps of a window, the longest first: those in `own`, then those in `shared`.
struct MeasuredWindow {
  std::span<const WindowCostRow> own;
  std::span<const WindowCostRow> shared;  ///< short steps of the sampled window; none: no sample
  double weight = 1;                      ///< number of windows that this one stands for
  double nanoseconds = 0;                 ///< time of all steps

  template <class F>
  void for_each(const F& f) const {
    for (const WindowCostRow& row : own) f(row);
    for (const WindowCostRow& row : shared) f(row);
  }
  const WindowCostRow& longest() const { return own.empty() ? shared.front() : own.front(); }
};

/// Returns the rows by window and, in each, by the number of windows that they stand for, the
/// longest first.
std::vector<WindowCostRow> longest_first(std::vector<WindowCostRow> rows);

/// Returns the windows of rows in the order of longest_first(), those of the same weight in a row.
/// The rows must outlive them.
std::vector<MeasuredWindow> measured_windows(std::span<const WindowCostRow> rows,
                                             std::size_t components);

}  // namespace lockstep
