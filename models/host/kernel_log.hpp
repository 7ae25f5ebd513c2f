#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.hpp"
#include "core/time/time.hpp"
#include "models/noc/grid_counts.hpp"

namespace lockstep {

/// Row of a launch in the /kernels table.
struct KernelRecord {
  std::string kernel;
  std::uint32_t tenant = 0, stream = 0;
  std::array<std::uint32_t, 3> blocks{}, threads{};
  Time enqueued, launched = Time::never(), done = Time::never();
  /// No further event comes: the launch is done, or was cut off before it began.
  bool is_over = false;
  GridCounts counts = {};  ///< counts until the last epoch
  std::uint32_t gpu = 0;   ///< number of the GPU that runs the launch

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kernel, tenant, stream, blocks, threads, enqueued, launched, done, is_over, counts,
            gpu);
  }
};

/// Launches by the number of their grid, in the order of queueing.  There may be millions: the code
/// that writes them down removes finished launches.
class KernelLog {
 public:
  /// Makes a log.  `settling`: time after which all components know that a grid is done.
  explicit KernelLog(Time settling) : settling_(settling) {}

  /// Returns how many launches the GPU has had.
  std::uint32_t launches_on(std::uint32_t gpu) const {
    return gpu < launches_.size() ? launches_[gpu] : 0;
  }
  /// Adds a launch.  Returns the number of its grid.
  std::uint32_t add(KernelRecord record) {
    if (record.gpu >= launches_.size()) launches_.resize(record.gpu + 1);
    ++launches_[record.gpu];
    records_.push_back(std::move(record));
    return static_cast<std::uint32_t>(first_ + records_.size() - 1);
  }
  KernelRecord& operator[](std::uint32_t grid) {
    LOCKSTEP_CHECK(grid >= first_ && grid - first_ < records_.size(), "no such grid");
    return records_[grid - first_];
  }

  /// Adds counts of a grid that some component has made.
  void add(const GridContribution& counted) {
    LOCKSTEP_CHECK(counted.grid >= first_ && counted.grid - first_ < records_.size(),
                   "a grid was counted for after all had heard of its end");
    records_[counted.grid - first_].counts += counted.counts;
  }

  /// Removes and returns the records before the first launch that is not over, or that may still
  /// lack counts at `now`.
  std::vector<KernelRecord> take_over(Time now) {
    const auto is_settled = [&](const KernelRecord& record) {
      return record.is_over && (record.done == Time::never() || record.done + settling_ < now);
    };
    std::vector<KernelRecord> taken;
    while (!records_.empty() && is_settled(records_.front())) taken.push_back(take_first());
    return taken;
  }
  std::vector<KernelRecord> take_all() {
    std::vector<KernelRecord> taken;
    while (!records_.empty()) taken.push_back(take_first());
    return taken;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(records_, first_, launches_);
  }

 private:
  KernelRecord take_first() {
    KernelRecord record = std::move(records_.front());
    records_.pop_front();
    ++first_;
    return record;
  }

  const Time settling_;
  std::deque<KernelRecord> records_;
  std::uint64_t first_ = 0;              ///< grid of the first record
  std::vector<std::uint32_t> launches_;  ///< number of launches on each GPU
};

}  // namespace lockstep
