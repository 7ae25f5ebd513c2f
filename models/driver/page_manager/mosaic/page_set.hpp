#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "models/vm/page_table_entry.hpp"

namespace lockstep {

/// Subset of the 512 pages of a large frame, by their places.
class PageSet {
 public:
  bool has(std::uint64_t page) const { return (words_[page / 64] >> page % 64 & 1) != 0; }
  void add(std::uint64_t page) { words_[page / 64] |= std::uint64_t{1} << page % 64; }
  void remove(std::uint64_t page) { words_[page / 64] &= ~(std::uint64_t{1} << page % 64); }
  void add_all() { words_.fill(~std::uint64_t{0}); }
  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::uint64_t>(std::popcount(word));
    return sum;
  }
  bool empty() const { return count() == 0; }
  bool full() const { return count() == pages_per_large; }
  /// Returns the lowest page from `from` on that is missing in the set; 512: none is.
  std::uint64_t next_missing(std::uint64_t from = 0) const {
    while (from < pages_per_large && has(from)) ++from;
    return from;
  }
  bool operator==(const PageSet&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(words_);
  }

 private:
  std::array<std::uint64_t, pages_per_large / 64> words_{};
};

}  // namespace lockstep
