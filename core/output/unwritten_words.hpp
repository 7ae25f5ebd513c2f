#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/output/hdf5.hpp"

namespace lockstep {

/// Words of rows that are not in the file yet.  Most words of a row are 0, and take no space.
class UnwrittenWords {
 public:
  /// Place of a word of the flat row in the file.
  struct Place {
    std::uint32_t series, index;
  };

  /// Reserves room for `words` words; only used room is touched.
  void make_room(std::size_t words) { words_.reserve(words); }

  std::size_t count() const { return words_.size(); }
  /// Forgets the words that were added after the first `count`.
  void cut(std::size_t count) { words_.resize(count); }
  /// Keeps word `word` of row `row`.  Rows must not decrease.
  void add(std::uint32_t row, std::uint32_t word, std::uint64_t value) {
    words_.push_back({row, word, value});
  }

  /// Visits all kept words, series after series; calls `action(series, words)` for groups of them.
  template <class Action>
  void for_each_series(std::span<const Place> places, std::size_t series, Action action) {
    std::vector<std::size_t> ends(series + 1, 0);
    for (const h5::Series::Word& word : words_) ++ends[places[word.index].series + 1];
    for (std::size_t i = 1; i <= series; ++i) ends[i] += ends[i - 1];
    sorted_.resize(words_.size());
    std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
    for (const h5::Series::Word& word : words_) {
      const Place& place = places[word.index];
      sorted_[next[place.series]++] = {word.row, place.index, word.value};
    }
    for (std::size_t i = 0; i < series; ++i)
      action(i, std::span(sorted_).subspan(ends[i], ends[i + 1] - ends[i]));
  }

 private:
  std::vector<h5::Series::Word> words_, sorted_;
};

}  // namespace lockstep
