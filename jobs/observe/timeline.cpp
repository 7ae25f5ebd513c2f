#include "jobs/observe/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "jobs/observe/json.hpp"
#include "jobs/observe/lanes.hpp"
#include "jobs/observe/units.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

/// Scale of a run that ends at `end`; later times, and those that never came, are placed at its
/// end.
class Scale {
 public:
  Scale(std::int64_t end, std::size_t pixels)
      : end_(std::max<std::int64_t>(end, 1)), pixels_(static_cast<std::int64_t>(pixels)) {}
  std::int64_t within(Time time) const { return std::min(time.femtoseconds(), end_); }
  std::size_t pixel(std::int64_t time) const {
    const double part = static_cast<double>(time) / static_cast<double>(end_);
    const auto pixel = static_cast<std::int64_t>(part * static_cast<double>(pixels_));
    return static_cast<std::size_t>(std::clamp<std::int64_t>(pixel, 0, pixels_ - 1));
  }

 private:
  const std::int64_t end_, pixels_;
};

/// How many blocks of one tenant an SM has.
class Occupancy {
 public:
  explicit Occupancy(std::size_t pixels) : largest_(pixels, 0) {}

  /// Notes a change. Changes must come in the order of time.
  void change(std::size_t pixel, int by) {
    fill(pixel);
    count_ += by;
    largest_[pixel] = std::max(largest_[pixel], count_);
  }
  std::string runs() {
    fill(largest_.size() - 1);
    std::string text;
    for (std::size_t i = 0; i < largest_.size();) {
      std::size_t end = i;
      while (end < largest_.size() && largest_[end] == largest_[i]) ++end;
      text += fmt::format("{}[{},{}]", text.empty() ? "" : ",", largest_[i], end - i);
      i = end;
    }
    return "[" + text + "]";
  }

 private:
  /// Fills the pixels up to `pixel`, in which nothing changes.
  void fill(std::size_t pixel) {
    for (; filled_ < pixel; ++filled_) largest_[filled_ + 1] = count_;
  }

  std::vector<int> largest_;
  std::size_t filled_ = 0;
  int count_ = 0;
};

struct Change {
  std::int64_t time;
  std::uint32_t sm, tenant;
  int by;
};

/// Returns the first SM of each GPU, counted over all GPUs, and the number of all.
std::vector<std::uint32_t> first_sms(const ObservedRun& run) {
  std::vector<std::uint32_t> first{0};
  for (std::size_t gpu = 0; gpu < run.gpus().count(); ++gpu) {
    const std::string axis = "/axes/" + run.gpus().prefix(gpu) + "sm/instance";
    const std::uint64_t sms = run.file().has(axis) ? run.file().rows(axis) : 0;
    first.push_back(first.back() + static_cast<std::uint32_t>(sms));
  }
  return first;
}

std::vector<Change> changes_of(const ObservedRun& run, const Scale& scale,
                               const std::vector<std::uint32_t>& first) {
  const std::vector<KernelRow> kernels = read_table<KernelRow>(run.file());
  std::vector<Change> changes;
  for (const BlockRow& block : read_table<BlockRow>(run.file())) {
    if (block.grid >= kernels.size()) continue;
    const std::uint32_t tenant = kernels[block.grid].tenant;
    if (block.gpu + 1 >= first.size())
      run.file().refuse("/thread_blocks", "names a GPU that is not there");
    const std::uint32_t sm = first[block.gpu] + block.sm;
    changes.push_back({scale.within(block.started), sm, tenant, 1});
    if (block.done != Time::never()) changes.push_back({scale.within(block.done), sm, tenant, -1});
  }
  // At equal times, departures come first.
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.by < b.by;
  });
  return changes;
}

}  // namespace

std::string kernel_bars(const ObservedRun& run, std::size_t pixels) {
  if (!run.file().has("/kernels")) return "[]";
  const Scale scale(run.end(), pixels);
  std::vector<KernelRow> kernels = read_table<KernelRow>(run.file());
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.launched < b.launched; });
  std::map<std::uint32_t, Lanes> lanes;
  std::map<std::pair<std::uint32_t, std::size_t>, std::size_t> last_pixel;
  std::string text;
  for (const KernelRow& kernel : kernels) {
    const std::int64_t begin = scale.within(kernel.launched), end = scale.within(kernel.done);
    const std::size_t lane = lanes[kernel.tenant].lane_of(begin, end);
    const auto [last, is_first] = last_pixel.try_emplace({kernel.tenant, lane}, 0);
    if (!is_first && scale.pixel(end) == last->second) continue;
    last->second = scale.pixel(end);
    text += fmt::format("{}[{},{},{},{},{}]", text.empty() ? "" : ",", kernel.tenant, lane,
                        json_text(kernel.kernel), begin / femtoseconds_per_nanosecond,
                        end / femtoseconds_per_nanosecond);
  }
  return "[" + text + "]";
}

std::string block_counts(const ObservedRun& run, std::size_t pixels) {
  if (!run.file().has("/thread_blocks") || !run.file().has("/kernels")) return "null";
  const Scale scale(run.end(), pixels);
  const std::vector<std::uint32_t> first = first_sms(run);
  const std::uint32_t sms = first.back();
  std::vector<std::vector<Occupancy>> occupancy(run.tenants().size(),
                                                std::vector<Occupancy>(sms, Occupancy(pixels)));
  for (const Change& change : changes_of(run, scale, first)) {
    if (change.tenant >= occupancy.size() || change.sm >= sms)
      run.file().refuse("/thread_blocks", "names a tenant or an SM that is not there");
    occupancy[change.tenant][change.sm].change(scale.pixel(change.time), change.by);
  }
  std::string text;
  for (std::vector<Occupancy>& tenant : occupancy) {
    std::string rows;
    for (Occupancy& sm : tenant) rows += (rows.empty() ? "" : ",") + sm.runs();
    text += (text.empty() ? "[" : ",[") + rows + "]";
  }
  return "[" + text + "]";
}

}  // namespace lockstep
