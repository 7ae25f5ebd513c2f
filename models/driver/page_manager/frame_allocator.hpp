/// Physical GPU memory given out in ranges of whole pages, first fit.
///
/// The driver zeroes frames that it maps unless every byte is about to be overwritten.  Frames that
/// were never given out read as zero, and the allocator knows them.  All tenants share one list, in
/// the order of their requests, as in the allocator that Mosaic is compared with; where memory is
/// in groups (address_mapping.hpp), a tenant gets frames of its own group. Source: architecture.md,
/// section 8, rule 10; 004, section 7.2.1 (GPU-MMU).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"
#include "models/vm/frame_run.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

class FrameAllocator {
 public:
  FrameAllocator() = default;
  /// Makes an allocator.  `group_bytes`: size of each group; 0: no groups.
  explicit FrameAllocator(std::uint64_t capacity, std::uint64_t group_bytes = 0)
      : capacity_(capacity),
        group_bytes_(group_bytes),
        used_before_(capacity / page_bytes / 64 + 1) {
    free_[0] = capacity;
  }

  /// Takes `bytes` (rounded up to pages) at a multiple of `alignment`.  Returns the address, or
  /// nothing if no free range is large enough.
  std::optional<PhysicalAddress> allocate(std::uint64_t bytes, std::uint64_t alignment = page_bytes,
                                          TenantId tenant = TenantId{0});
  /// Takes `bytes` in as few ranges as first fit gives.  Returns no range if so much is not free.
  std::vector<FrameRun> allocate_scattered(std::uint64_t bytes, TenantId tenant = TenantId{0});
  /// Returns the n-th page that the tenant could get.
  PhysicalAddress free_page(std::uint64_t n, TenantId tenant) const;
  std::uint64_t free_bytes(TenantId tenant) const;
  /// Takes these frames, which are free.
  void take(const FrameRun& run);
  void release(PhysicalAddress base, std::uint64_t bytes);
  void release(const FrameRun& run) { release(run.begin(), run.bytes); }

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t free_bytes() const { return capacity_ - taken_; }
  /// Returns whether the frame has been given back before, so that it may hold anything.
  bool used_before(Frame frame) const {
    return (used_before_[frame.value() / 64] >> (frame.value() % 64)) & 1;
  }
  /// Appends the frames of `run` that may hold anything.
  void append_used(const FrameRun& run, std::vector<FrameRun>& used) const {
    for (PhysicalAddress at = run.begin(); at < run.end(); at += page_bytes)
      if (used_before(frame_of(at))) append_frame(used, at, page_bytes);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(capacity_, group_bytes_, free_, taken_, used_before_);
  }

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;
  void cut(Ranges::iterator range, std::uint64_t base, std::uint64_t bytes);
  FrameRun group_of(TenantId tenant) const;
  /// Calls `visit(part of a free range in the group, the range)` in order until it returns true.
  template <class Map, class Visit>
  static void visit_free(Map& free, const FrameRun& group, Visit&& visit);

  std::uint64_t capacity_ = 0, group_bytes_ = 0;
  std::uint64_t taken_ = 0;
  Ranges free_;  ///< bytes of each free range by its base; neighbours are merged
  std::vector<std::uint64_t> used_before_;  ///< one bit per frame: it has been used before
};

}  // namespace lockstep
