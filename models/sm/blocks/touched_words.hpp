#pragma once

#include <cstdint>
#include <map>

#include "core/checkpoint/archive.hpp"

namespace lockstep {

/// Words of global memory that a block has used, with a note whether the block read or wrote each
/// of them first. If the block ran again, it would find another value in a word that it read and
/// then overwrote.
class TouchedWords {
 public:
  static constexpr std::uint64_t word_bytes = 4;

  void read(std::uint64_t address, unsigned bytes) {
    for_each(address, bytes, [&](std::uint64_t word) { read_first_.try_emplace(word, true); });
  }
  /// Returns false if the block overwrites something that it had read.
  bool write(std::uint64_t address, unsigned bytes) {
    bool repeatable = true;
    for_each(address, bytes, [&](std::uint64_t word) {
      repeatable = !read_first_.try_emplace(word, false).first->second && repeatable;
    });
    return repeatable;
  }
  bool empty() const { return read_first_.empty(); }

  void serialize(Archive& archive) { archive(read_first_); }

 private:
  template <class Function>
  static void for_each(std::uint64_t address, unsigned bytes, Function&& function) {
    for (std::uint64_t word = address / word_bytes; word * word_bytes < address + bytes; ++word)
      function(word);
  }

  std::map<std::uint64_t, bool> read_first_;
};

}  // namespace lockstep
