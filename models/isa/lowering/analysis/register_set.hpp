/// Sets of register numbers: one to work on, one to keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::isa::lowering {

/// A set to work on: queries and changes take constant time, and clearing takes time by the size of
/// the set.  It is made once for all registers of a function.
/// Source: Briggs, Torczon: An Efficient Representation for Sparse Sets, 1993.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers = 0) : place_(registers) {}
  bool contains(std::uint32_t r) const {
    return place_[r] < members_.size() && members_[place_[r]] == r;
  }
  /// Returns whether the register was not there.
  bool insert(std::uint32_t r) {
    if (contains(r)) return false;
    place_[r] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(r);
    return true;
  }
  /// Returns whether the register was there.
  bool erase(std::uint32_t r) {
    if (!contains(r)) return false;
    const std::uint32_t last = members_.back();
    members_[place_[r]] = last;
    place_[last] = place_[r];
    members_.pop_back();
    return true;
  }
  void clear() { members_.clear(); }
  std::size_t size() const { return members_.size(); }
  /// Registers in no particular order.
  const std::vector<std::uint32_t>& members() const { return members_; }

 private:
  /// Place of each member in `members_`; meaningless for others.
  std::vector<std::uint32_t> place_;
  std::vector<std::uint32_t> members_;
};

/// A set to keep: its room depends on its members alone, and is smaller for neighbouring numbers.
class PackedRegisters {
 public:
  bool contains(std::uint32_t r) const {
    const auto word = find(r);
    return word != words_.end() && word->number == r / 32 && (word->bits >> r % 32 & 1) != 0;
  }
  /// Inserts a register; cheapest for a number above all others.
  void insert(std::uint32_t r) {
    auto word = words_.end();
    if (!words_.empty() && words_.back().number >= r / 32)
      word = words_.begin() + (find(r) - words_.cbegin());
    if (word == words_.end() || word->number != r / 32) word = words_.insert(word, {r / 32, 0});
    word->bits |= std::uint32_t{1} << r % 32;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Word& word : words_)
      for (std::uint32_t bits = word.bits; bits != 0; bits &= bits - 1)
        visit(word.number * 32 + static_cast<std::uint32_t>(__builtin_ctz(bits)));
  }

 private:
  struct Word {
    std::uint32_t number, bits;
  };
  std::vector<Word>::const_iterator find(std::uint32_t r) const {
    return std::lower_bound(words_.begin(), words_.end(), r / 32,
                            [](const Word& word, std::uint32_t n) { return word.number < n; });
  }
  std::vector<Word> words_;  ///< words in ascending order
};

}  // namespace lockstep::isa::lowering
