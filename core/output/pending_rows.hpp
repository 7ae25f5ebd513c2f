#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/output/hdf5.hpp"

namespace lockstep {

/// Rows of a series that are not in the file yet; those that are all 0 take no space.
class PendingRows {
 public:
  explicit PendingRows(std::size_t words) : words_(words) {}

  /// Where the next row is to be written; keep() makes it that.
  std::uint64_t* next() {
    rows_.resize((numbers_.size() + 1) * words_);
    return rows_.data() + numbers_.size() * words_;
  }
  /// It is row `number` of those since the last append_to(), and not all 0.
  void keep(std::uint64_t number) { numbers_.push_back(number); }

  /// All, of `count` rows.
  void append_to(h5::Series& series, std::uint64_t count) {
    series.append(count, numbers_, rows_.data());
    numbers_.clear();
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> numbers_, rows_;
};

}  // namespace lockstep
