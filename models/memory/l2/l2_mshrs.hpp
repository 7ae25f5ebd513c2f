#pragma once

#include <cstdint>
#include <vector>

#include "core/memory/buckets.hpp"
#include "core/memory/warm.hpp"

namespace lockstep {

/// Lines of one L2 bank that are on their way from DRAM, each with the transactions that wait for
/// it.
///
/// A later miss on the line joins its entry and asks DRAM only for sectors not yet on their way.
/// Source: gpu-parameters.md, section 1, cache strings (mshr:entries:merges) and section 8.
class L2Mshrs {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Entry {
    std::uint32_t line = 0;
    std::uint32_t first = none, last = none;  ///< first and last waiting transaction, in order
    std::uint32_t next = none;                ///< next entry of the bucket, or of the free list
    std::uint32_t before = none;              ///< previous entry of the bucket
    std::uint16_t waiting = 0;
    std::uint8_t pending = 0;  ///< sectors on their way
    std::uint8_t reserved = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(line, first, last, next, before, waiting, pending);
    }
  };

  explicit L2Mshrs(std::uint32_t entries);

  /// Returns the entry of a line, or none.
  std::uint32_t find(std::uint32_t line) const {
    std::uint32_t index = heads_[buckets_.of(line)];
    while (index != none && entries_[index].line != line) index = entries_[index].next;
    return index;
  }
  /// Fetches the words that allocating an entry for the line will write.
  void warm_for(std::uint32_t line) const {
    warm(&heads_[buckets_.of(line)]);
    if (free_ != none) warm(&entries_[free_]);
  }
  bool full() const { return free_ == none; }
  std::uint32_t used() const { return used_; }
  std::uint32_t allocate(std::uint32_t line);
  void release(std::uint32_t index);
  Entry& operator[](std::uint32_t index) { return entries_[index]; }
  const Entry& operator[](std::uint32_t index) const { return entries_[index]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(entries_, heads_, free_, used_);
  }

 private:
  Buckets buckets_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> heads_;
  std::uint32_t free_ = none;
  std::uint32_t used_ = 0;
};

}  // namespace lockstep
