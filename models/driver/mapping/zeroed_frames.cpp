#include "models/driver/mapping/zeroed_frames.hpp"

#include <algorithm>

#include "models/driver/mapping/memory_access.hpp"

namespace lockstep {

void ZeroedFrames::refill(const HostCycle& cycle) {
  while (granules_ < wanted_) {
    const std::vector<FrameRun> runs = page_manager_.allocate_unowned(pages_per_block);
    if (runs.empty()) return;
    ++granules_;
    Batch batch;
    std::size_t page = 0;
    for (const FrameRun& run : runs) {
      for (PhysicalAddress at = run.begin(); at < run.end(); at += page_bytes)
        batch.frames[page++] = at.value();
      page_manager_.frames().append_used(run, batch.zeroing);
    }
    batch.missing = send_zero_ranges(batch.zeroing, partitions_, cycle);
    if (batch.missing == 0) {
      news_.zeroed_frames(batch.frames, cycle);
    } else {
      batches_.push_back(std::move(batch));
    }
  }
}

bool ZeroedFrames::zero_done(const ZeroRange& range, const HostCycle& cycle) {
  const auto has = [&](const Batch& batch) {
    return std::any_of(batch.zeroing.begin(), batch.zeroing.end(),
                       [&](const FrameRun& run) { return run.physical == range.base; });
  };
  const auto batch = std::find_if(batches_.begin(), batches_.end(), has);
  if (batch == batches_.end()) return false;
  if (--batch->missing > 0) return true;
  news_.zeroed_frames(batch->frames, cycle);
  batches_.erase(batch);
  return true;
}

}  // namespace lockstep
