#include "jobs/profile/measured_windows.hpp"

#include <algorithm>

namespace lockstep {
namespace {

double nanoseconds_of(std::span<const WindowCostRow> rows) {
  double sum = 0;
  for (const WindowCostRow& row : rows) sum += row.nanoseconds;
  return sum;
}

/// A sampled window and the components that took part in it.
struct Sample {
  std::span<const WindowCostRow> rows;  ///< short steps of the window
  std::vector<bool> has;                ///< whether a component took part
  std::uint32_t left = 0;               ///< windows that it still stands for

  std::uint32_t window() const { return rows.front().window; }
  std::size_t common(std::span<const WindowCostRow> steps) const {
    return static_cast<std::size_t>(
        std::count_if(steps.begin(), steps.end(),
                      [&](const WindowCostRow& row) { return has.at(row.component); }));
  }
};

class Samples {
 public:
  Samples(const std::vector<std::span<const WindowCostRow>>& groups, std::size_t components) {
    for (const auto& group : groups)
      if (group.front().windows > 1)
        samples_.push_back({group, std::vector<bool>(components), group.front().windows});
    for (const auto& group : groups) {
      const std::size_t behind = first_behind(group.front().window);
      if (behind == 0 || samples_[behind - 1].window() != group.front().window) continue;
      for (const WindowCostRow& row : group) samples_[behind - 1].has.at(row.component) = true;
    }
    if (!samples_.empty()) first_ = samples_.front().window() - samples_.front().left + 1;
  }

  /// Returns the sampled window whose short steps a window with these long steps has.  Returns
  /// nullptr if there is none, and for windows before the sample, which have all of their steps.
  Sample* like(std::span<const WindowCostRow> steps) {
    if (steps.front().window < first_) return nullptr;
    const std::size_t behind = first_behind(steps.front().window);
    Sample* best = nullptr;
    std::size_t most = 0;
    for (std::size_t near = behind - std::min<std::size_t>(behind, 1);
         near <= behind && near < samples_.size(); ++near) {
      const std::size_t common = samples_[near].left > 0 ? samples_[near].common(steps) : 0;
      if (common > most) best = &samples_[near];
      most = std::max(most, common);
    }
    return best;
  }

  const std::vector<Sample>& all() const { return samples_; }

 private:
  /// Returns the number of samples up to the window, itself included.
  std::size_t first_behind(std::uint32_t window) const {
    const auto behind = std::upper_bound(
        samples_.begin(), samples_.end(), window,
        [](std::uint32_t one, const Sample& other) { return one < other.window(); });
    return static_cast<std::size_t>(behind - samples_.begin());
  }

  std::vector<Sample> samples_;  ///< in order of their windows
  std::uint32_t first_ = 0;      ///< first window for which a sample stands
};

/// Returns the rows of each window and weight.
std::vector<std::span<const WindowCostRow>> grouped(std::span<const WindowCostRow> rows) {
  std::vector<std::span<const WindowCostRow>> groups;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].window == rows[first].window &&
           rows[last].windows == rows[first].windows)
      ++last;
    groups.push_back(rows.subspan(first, last - first));
    first = last;
  }
  return groups;
}

}  // namespace

std::vector<WindowCostRow> longest_first(std::vector<WindowCostRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const WindowCostRow& a, const WindowCostRow& b) {
    if (a.window != b.window) return a.window < b.window;
    if (a.windows != b.windows) return a.windows < b.windows;
    if (a.nanoseconds != b.nanoseconds) return a.nanoseconds > b.nanoseconds;
    return a.component < b.component;
  });
  return rows;
}

std::vector<MeasuredWindow> measured_windows(std::span<const WindowCostRow> rows,
                                             std::size_t components) {
  const std::vector<std::span<const WindowCostRow>> groups = grouped(rows);
  Samples samples(groups, components);
  std::vector<MeasuredWindow> windows;
  for (const auto& group : groups) {
    if (group.front().windows > 1) continue;
    MeasuredWindow window{group, {}, 1, nanoseconds_of(group)};
    if (Sample* const sample = samples.like(group)) {
      --sample->left;
      window.shared = sample->rows;
      window.nanoseconds += nanoseconds_of(sample->rows);
    }
    windows.push_back(window);
  }
  for (const Sample& sample : samples.all()) {
    if (sample.left == 0) continue;
    windows.push_back(
        {{}, sample.rows, static_cast<double>(sample.left), nanoseconds_of(sample.rows)});
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const auto& a, const auto& b) { return a.weight < b.weight; });
  return windows;
}

}  // namespace lockstep
