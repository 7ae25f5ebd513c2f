#include "models/vm/frame_allocator.hpp"

#include <iterator>

#include "core/error/error.hpp"

namespace lockstep {

std::optional<std::uint64_t> FrameAllocator::allocate(std::uint64_t bytes) {
  bytes = round_up_to_page(bytes);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [base, size] = *range;
    if (size < bytes) continue;
    free_.erase(range);
    if (size > bytes) free_[base + bytes] = size - bytes;
    return base;
  }
  return std::nullopt;
}

void FrameAllocator::release(std::uint64_t base, std::uint64_t bytes) {
  bytes = round_up_to_page(bytes);
  const auto after = free_.lower_bound(base);
  LOCKSTEP_CHECK(after == free_.end() || after->first >= base + bytes, "memory is freed twice");
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

std::uint64_t FrameAllocator::free_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [base, bytes] : free_) sum += bytes;
  return sum;
}

}  // namespace lockstep
