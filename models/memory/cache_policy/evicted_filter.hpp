#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// A Bloom filter of the lines that left a cache not long ago.  The filter is cleared when it holds
/// as many lines as the cache.
///
/// It may report a line that never left (aliasing), but it never misses one that did.
/// Source: memory-interference.md, section 3.2, EAF (Seshadri et al., PACT 2012).  Eight bits for
/// each line and two hashes are ours.
class EvictedFilter {
 public:
  explicit EvictedFilter(std::uint64_t lines) : lines_(lines), words_(lines / 8 + 1) {}

  void add(std::uint64_t line) {
    if (added_ == lines_) {
      words_.assign(words_.size(), 0);
      added_ = 0;
    }
    ++added_;
    for (const std::uint64_t factor : factors) {
      const std::uint64_t bit = place(line, factor);
      words_[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
  }
  bool has(std::uint64_t line) const {
    for (const std::uint64_t factor : factors) {
      const std::uint64_t bit = place(line, factor);
      if ((words_[bit / 64] >> bit % 64 & 1) == 0) return false;
    }
    return true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(words_, added_);
  }

 private:
  /// Odd factors of multiplicative hashes (golden ratio, square root of 3).
  static constexpr std::uint64_t factors[] = {0x9e37'79b9'7f4a'7c15, 0xbb67'ae85'84ca'a73b};

  std::uint64_t place(std::uint64_t line, std::uint64_t factor) const {
    return (line * factor >> 32) % (words_.size() * 64);
  }

  std::uint64_t lines_;
  std::vector<std::uint64_t> words_;
  std::uint64_t added_ = 0;
};

}  // namespace lockstep
