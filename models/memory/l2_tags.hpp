#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/memory/bring.hpp"

namespace lockstep {

/// The tags of one L2 bank: lines of four sectors with their own valid and dirty bits.
///
/// A store that covers only part of an absent sector leaves its byte mask; the sector becomes valid
/// when masks have covered it or a later read has fetched it ("lazy fetch on read").
/// Source: gpu-parameters.md, section 1, cache strings (S, B, L) and section 8.
class L2Tags {
 public:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  struct Line {
    std::uint8_t valid = 0;    ///< sectors that can be read
    std::uint8_t dirty = 0;    ///< sectors newer than DRAM
    std::uint8_t partial = 0;  ///< sectors of which only masks_ bytes are there
    std::uint8_t line_class = 0;
    std::uint16_t tenant = 0;
    std::uint16_t reserved = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(valid, dirty, partial, line_class, tenant);
    }
  };

  /// A bank holds one of `stride` lines; XOR of higher bits spreads them if `sets` is a power of
  /// two.
  L2Tags(std::uint32_t sets, std::uint32_t ways, std::uint32_t stride);

  /// The place of a line, or absent.
  std::uint32_t find(std::uint32_t line) const;
  Line& operator[](std::uint32_t place) { return lines_[place]; }
  const Line& operator[](std::uint32_t place) const { return lines_[place]; }
  std::uint32_t tag(std::uint32_t place) const { return tags_[place]; }
  std::uint32_t last_use(std::uint32_t place) const { return stamps_[place]; }

  /// Marks the most recent use.
  void touch(std::uint32_t place) {
    if (++clock_ == 0) renumber();
    stamps_[place] = clock_;
  }
  /// First place of the set of a line; its ways follow.
  std::uint32_t set_begin(std::uint32_t line) const { return set_of(line) * row_; }
  std::uint32_t ways() const { return ways_; }
  /// A free place of the line's set, otherwise the least recently used one.
  std::uint32_t victim(std::uint32_t line) const;
  /// Puts `line` at `place`, most recently used or next to go, with no sector there.
  void install(std::uint32_t place, std::uint32_t line, bool at_lru);

  /// A store wrote the bytes `mask` of a sector.
  void write(std::uint32_t place, unsigned sector, std::uint32_t mask, bool dirty);

  /// What find() reads.
  void bring_tags(std::uint32_t line) const {
    const std::uint32_t begin = set_begin(line);
    bring(&tags_[begin]);
    bring(&tags_[begin + row_ - 1]);
  }
  /// ... and what choosing a victim reads.
  void bring_set(std::uint32_t line) const {
    bring_tags(line);
    bring(&stamps_[set_begin(line)], row_ * sizeof stamps_[0]);
    bring(&lines_[set_begin(line)], row_ * sizeof lines_[0]);
  }
  void prefetch(std::uint32_t line) const {
    const std::uint32_t begin = set_begin(line);
    __builtin_prefetch(&tags_[begin]);
    __builtin_prefetch(&tags_[begin + row_ - 1]);
  }
  void prefetch_victim(std::uint32_t line) const {
    const std::uint32_t begin = set_begin(line);
    for (std::uint32_t way = 0; way < row_; way += 16) __builtin_prefetch(&stamps_[begin + way]);
    for (std::uint32_t way = 0; way < row_; way += 8) __builtin_prefetch(&lines_[begin + way]);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tags_, stamps_, lines_, masks_, clock_);
  }

 private:
  std::uint32_t set_of(std::uint32_t line) const {
    const std::uint32_t number = line >> stride_shift_;
    if (!power_of_two_) return number % sets_;
    return (number ^ number >> set_shift_ ^ number >> 2 * set_shift_) & (sets_ - 1);
  }
  void renumber();

  std::uint32_t ways_, row_;  ///< row_: ways, rounded up to whole vectors
  std::uint32_t stride_shift_, set_shift_, sets_;
  bool power_of_two_;
  std::vector<std::uint32_t> tags_, stamps_;
  std::vector<Line> lines_;
  std::vector<std::array<std::uint32_t, 4>> masks_;
  std::uint32_t clock_ = 0;
};

}  // namespace lockstep
