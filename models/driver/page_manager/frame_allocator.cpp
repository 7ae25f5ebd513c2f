#include "models/driver/page_manager/frame_allocator.hpp"

#include <algorithm>
#include <iterator>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep {

void FrameAllocator::cut(Ranges::iterator range, std::uint64_t base, std::uint64_t bytes) {
  const std::uint64_t begin = range->first, end = begin + range->second;
  free_.erase(range);
  if (base > begin) free_[begin] = base - begin;
  if (end > base + bytes) free_[base + bytes] = end - base - bytes;
  taken_ += bytes;
}

std::optional<PhysicalAddress> FrameAllocator::allocate(std::uint64_t bytes,
                                                        std::uint64_t alignment) {
  bytes = round_up_to_page(bytes);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const std::uint64_t base = round_up(range->first, alignment);
    if (base + bytes > range->first + range->second) continue;
    cut(range, base, bytes);
    return PhysicalAddress{base};
  }
  return std::nullopt;
}

std::vector<FrameRun> FrameAllocator::allocate_scattered(std::uint64_t bytes) {
  bytes = round_up_to_page(bytes);
  std::vector<FrameRun> runs;
  if (bytes > free_bytes()) return runs;
  if (const auto base = allocate(bytes)) return {{base->value(), bytes}};
  while (bytes > 0) {
    const auto range = free_.begin();
    const FrameRun run{range->first, std::min(bytes, range->second)};
    cut(range, run.physical, run.bytes);
    bytes -= run.bytes;
    runs.push_back(run);
  }
  return runs;
}

void FrameAllocator::take(const FrameRun& run) {
  const auto above = free_.upper_bound(run.physical);
  LOCKSTEP_CHECK(above != free_.begin(), "a frame is taken twice");
  const auto range = std::prev(above);
  LOCKSTEP_CHECK(range->first + range->second >= run.end().value(), "a frame is taken twice");
  cut(range, run.physical, run.bytes);
}

void FrameAllocator::release(PhysicalAddress address, std::uint64_t bytes) {
  const std::uint64_t base = address.value();
  bytes = round_up_to_page(bytes);
  const auto after = free_.lower_bound(base);
  LOCKSTEP_CHECK(after == free_.end() || after->first >= base + bytes, "memory is freed twice");
  taken_ -= bytes;
  for (std::uint64_t frame = base / page_bytes; frame < (base + bytes) / page_bytes; ++frame)
    used_before_[frame / 64] |= std::uint64_t{1} << (frame % 64);
  const auto range = free_.emplace_hint(after, base, bytes);
  if (after != free_.end() && after->first == base + bytes) {
    range->second += after->second;
    free_.erase(after);
  }
  if (range == free_.begin()) return;
  const auto before = std::prev(range);
  LOCKSTEP_CHECK(before->first + before->second <= base, "memory is freed twice");
  if (before->first + before->second == base) {
    before->second += range->second;
    free_.erase(range);
  }
}

}  // namespace lockstep
