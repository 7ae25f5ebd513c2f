#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// What a launch leaves in the /kernels table.
struct KernelRecord {
  std::string kernel;
  std::uint32_t tenant = 0, stream = 0;
  std::array<std::uint32_t, 3> blocks{}, threads{};
  Time enqueued, launched = Time::never(), done = Time::never();
  bool is_over = false;  ///< nothing more becomes of it: done, or cut off before it was launched

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kernel, tenant, stream, blocks, threads, enqueued, launched, done, is_over);
  }
};

/// Launches by the number of their grid, in the order in which they were queued.  There may be
/// millions: whoever writes them down takes those that are over away.
class KernelLog {
 public:
  /// Returns the number of its grid.
  std::uint32_t add(KernelRecord record) {
    records_.push_back(std::move(record));
    return static_cast<std::uint32_t>(first_ + records_.size() - 1);
  }
  KernelRecord& operator[](std::uint32_t grid) {
    LOCKSTEP_CHECK(grid >= first_ && grid - first_ < records_.size(), "no such grid");
    return records_[grid - first_];
  }

  /// Those before the first that is not over.
  std::vector<KernelRecord> take_over() {
    std::vector<KernelRecord> taken;
    while (!records_.empty() && records_.front().is_over) taken.push_back(take_first());
    return taken;
  }
  std::vector<KernelRecord> take_all() {
    std::vector<KernelRecord> taken;
    while (!records_.empty()) taken.push_back(take_first());
    return taken;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(records_, first_);
  }

 private:
  KernelRecord take_first() {
    KernelRecord record = std::move(records_.front());
    records_.pop_front();
    ++first_;
    return record;
  }

  std::deque<KernelRecord> records_;
  std::uint64_t first_ = 0;  ///< grid of the first record
};

}  // namespace lockstep
