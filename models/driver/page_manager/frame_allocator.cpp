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

FrameRun FrameAllocator::group_of(TenantId tenant) const {
  if (group_bytes_ == 0) return {0, capacity_};
  const std::uint64_t begin = std::min(tenant.value() * group_bytes_, capacity_);
  return {begin, std::min(group_bytes_, capacity_ - begin)};
}

template <class Map, class Visit>
void FrameAllocator::visit_free(Map& free, const FrameRun& group, Visit&& visit) {
  auto range = free.upper_bound(group.physical);
  if (range != free.begin()) --range;
  for (; range != free.end() && range->first < group.end().value(); ++range) {
    const std::uint64_t begin = std::max(range->first, group.physical);
    const std::uint64_t end = std::min(range->first + range->second, group.end().value());
    if (begin < end && visit(FrameRun{begin, end - begin}, range)) return;
  }
}

std::optional<PhysicalAddress> FrameAllocator::allocate(std::uint64_t bytes,
                                                        std::uint64_t alignment, TenantId tenant) {
  bytes = round_up_to_page(bytes);
  std::optional<PhysicalAddress> found;
  visit_free(free_, group_of(tenant), [&](const FrameRun& part, Ranges::iterator range) {
    const std::uint64_t base = round_up(part.physical, alignment);
    if (base + bytes > part.end().value()) return false;
    cut(range, base, bytes);
    found = PhysicalAddress{base};
    return true;
  });
  return found;
}

std::vector<FrameRun> FrameAllocator::allocate_scattered(std::uint64_t bytes, TenantId tenant) {
  bytes = round_up_to_page(bytes);
  std::vector<FrameRun> runs;
  if (bytes > free_bytes(tenant)) return runs;
  if (const auto base = allocate(bytes, page_bytes, tenant)) return {{base->value(), bytes}};
  while (bytes > 0)
    visit_free(free_, group_of(tenant), [&](const FrameRun& part, Ranges::iterator range) {
      const FrameRun run{part.physical, std::min(bytes, part.bytes)};
      cut(range, run.physical, run.bytes);
      bytes -= run.bytes;
      runs.push_back(run);
      return true;
    });
  return runs;
}

std::uint64_t FrameAllocator::free_bytes(TenantId tenant) const {
  if (group_bytes_ == 0) return free_bytes();
  std::uint64_t sum = 0;
  visit_free(free_, group_of(tenant), [&](const FrameRun& part, auto) {
    sum += part.bytes;
    return false;
  });
  return sum;
}

PhysicalAddress FrameAllocator::free_page(std::uint64_t n, TenantId tenant) const {
  PhysicalAddress found;
  visit_free(free_, group_of(tenant), [&](const FrameRun& part, auto) {
    const std::uint64_t pages = part.bytes / page_bytes;
    found = part.begin() + std::min(n, pages) * page_bytes;
    if (n < pages) return true;
    n -= pages;
    return false;
  });
  return found;
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
