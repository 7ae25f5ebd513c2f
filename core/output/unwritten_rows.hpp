#pragma once

#include <cstdint>
#include <vector>

#include "core/output/hdf5.hpp"

namespace lockstep {

/// Rows of many series that are not in the file yet, one behind the other; those that are all 0
/// take no space.
class UnwrittenRows {
 public:
  /// Room for so many words is set aside; how much of it is touched depends on what is kept.
  void make_room(std::size_t series, std::size_t words) {
    places_.resize(series);
    words_.reserve(words);
  }

  /// Where a row of so many words is to be written; keep() makes it one of a series.
  std::uint64_t* next(std::size_t words) {
    words_.resize(kept_ + words);
    return words_.data() + kept_;
  }
  /// It is row `number` since the last clear(), and not all 0.
  void keep(std::size_t series, std::uint64_t number) {
    places_[series].push_back({number, kept_});
    kept_ = words_.size();
  }
  std::size_t words() const { return kept_; }

  /// Of one series, all of `count` rows.
  void append_to(h5::Series& dataset, std::size_t series, std::uint64_t count) {
    rows_.clear();
    for (const Place& place : places_[series])
      rows_.push_back({place.number, words_.data() + place.first});
    dataset.append(count, rows_);
    places_[series].clear();
  }
  void clear() { kept_ = 0; }

 private:
  struct Place {
    std::uint64_t number;
    std::size_t first;  ///< word
  };
  std::vector<std::uint64_t> words_;
  std::size_t kept_ = 0;
  std::vector<std::vector<Place>> places_;
  std::vector<h5::Series::Row> rows_;
};

}  // namespace lockstep
