/// Physical GPU memory given out in page-granular ranges, first fit.
///
/// Source: architecture.md, section 8, rule 10 (a frame is zeroed before it is mapped: whoever
/// gives a range back has it zeroed first).
///
/// Simplified: ranges are contiguous; page-wise allocation comes with demand paging.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/vm/page_table_entry.hpp"

namespace lockstep {

class FrameAllocator {
 public:
  FrameAllocator() = default;
  explicit FrameAllocator(std::uint64_t capacity) : capacity_(capacity) { free_[0] = capacity; }

  /// Physical base of `bytes` (rounded up to pages), or nothing if no free range is large enough.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  void release(std::uint64_t base, std::uint64_t bytes);

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t free_bytes() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(capacity_, free_);
  }

 private:
  std::uint64_t capacity_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< base -> bytes; neighbours are merged
};

}  // namespace lockstep
