#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/cache_aligned.hpp"
#include "core/memory/warm.hpp"
#include "models/memory/cache_line.hpp"

namespace lockstep {

/// The tags of one L2 bank: lines of four sectors with their own valid and dirty bits.
///
/// A store that covers only part of an absent sector leaves its byte mask; the sector becomes valid
/// when masks have covered it or a later read has fetched it ("lazy fetch on read").
/// Source: gpu-parameters.md, section 1, cache strings (S, B, L) and section 8.
///
/// The data of a set are stored together, since a lookup or a fill seldom finds them in this
/// computer's caches: tags, the age of each way, then its lines; eight bytes for each way.
class L2Tags {
 public:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};
  static constexpr unsigned all_sectors = 0xf;

  struct Line {
    std::uint8_t valid : 4 = 0;       ///< sectors that can be read
    std::uint8_t dirty : 4 = 0;       ///< sectors newer than DRAM
    std::uint8_t partial : 4 = 0;     ///< sectors of which only the bytes in masks_ are there
    std::uint8_t line_class : 4 = 0;  ///< class that the policy chose
    std::uint8_t tenant = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      auto sectors = static_cast<std::uint8_t>(valid | dirty << 4);
      auto rest = static_cast<std::uint8_t>(partial | line_class << 4);
      archive(sectors, rest, tenant);
      valid = sectors & 0xf;
      dirty = sectors >> 4 & 0xf;
      partial = rest & 0xf;
      line_class = rest >> 4 & 0xf;
    }
  };
  static_assert(sizeof(Line) == 3 && alignof(Line) == 1);
  static constexpr std::size_t most_tenants = 256;
  static constexpr std::uint32_t most_ways = 64;

  /// Makes the tags of a bank that holds one of `stride` lines; XOR of higher bits spreads lines
  /// over the sets if `sets` is a power of two.  Up to 64 ways.
  L2Tags(std::uint32_t sets, std::uint32_t ways, std::uint32_t stride);

  /// Returns the place of a line, or absent.
  std::uint32_t find(std::uint32_t line) const;
  Line& operator[](std::uint32_t place) { return lines_of(place)[way_of(place)]; }
  const Line& operator[](std::uint32_t place) const { return lines_of(place)[way_of(place)]; }
  std::uint32_t tag(std::uint32_t place) const { return tags_of(place)[way_of(place)]; }
  void set_tenant(std::uint32_t place, std::uint16_t tenant) {
    (*this)[place].tenant = static_cast<std::uint8_t>(tenant);
  }
  /// Returns how many lines of the set were used longer ago.
  std::uint32_t last_use(std::uint32_t place) const {
    return ways_ - 1 - ages_of(place)[way_of(place)];
  }

  void make_dirty(std::uint32_t place, std::uint8_t sectors) {
    if (sectors == 0) return;
    (*this)[place].dirty |= sectors;
    dirty_[set_number(place)] |= bit_of(place);
  }
  void clean(std::uint32_t place) {
    (*this)[place].dirty = 0;
    dirty_[set_number(place)] &= ~bit_of(place);
  }
  /// Returns how many lines of a set are dirty; the set begins at `begin`.
  std::uint32_t dirty_lines(std::uint32_t begin) const {
    return static_cast<std::uint32_t>(std::popcount(dirty_[set_number(begin)]));
  }
  /// Returns the least recently used dirty line.  Precondition: there is one.
  std::uint32_t oldest_dirty(std::uint32_t begin) const;

  /// Marks the most recent use.
  void touch(std::uint32_t place);
  static std::uint32_t way_of(std::uint32_t place) { return place % most_ways; }
  static std::uint32_t set_number(std::uint32_t place) { return place / most_ways; }
  /// Returns the first place of the set of a line; its ways follow.
  std::uint32_t set_begin(std::uint32_t line) const { return set_of(line) * most_ways; }
  std::uint32_t ways() const { return ways_; }
  /// Returns a free place of the line's set, otherwise the least recently used one.
  std::uint32_t victim(std::uint32_t line) const;
  /// Puts `line` at `place`, with no sector there.
  void install(std::uint32_t place, std::uint32_t line, CachePosition position);

  /// Notes that a store wrote the bytes `mask` of a sector.
  void write(std::uint32_t place, unsigned sector, std::uint32_t mask, bool dirty);
  /// Does what write() does for sectors of which all bytes are written.
  void write_whole(std::uint32_t place, std::uint8_t sectors, bool dirty) {
    if (dirty) make_dirty(place, sectors);
    Line& line = (*this)[place];
    line.valid |= sectors;
    line.partial &= static_cast<std::uint8_t>(~sectors);
  }

  /// Brings the tags that find() reads into the cache.
  void warm_tags(std::uint32_t line) const { warm(set(set_of(line)), ages_at_); }
  /// Brings the data into the cache that find() and the choice of a victim read.
  void warm_set(std::uint32_t line) const { warm(set(set_of(line)), set_bytes_); }
  void prefetch(std::uint32_t line) const { prefetch(line, lines_at_); }
  void prefetch_victim(std::uint32_t line) const { prefetch(line, set_bytes_); }

  void serialize(Archive& archive);

 private:
  std::uint32_t set_of(std::uint32_t line) const {
    const std::uint32_t number = line >> stride_shift_;
    if (!power_of_two_) return number % sets_;
    return (number ^ number >> set_shift_ ^ number >> 2 * set_shift_) & (sets_ - 1);
  }
  const std::byte* set(std::uint32_t number) const {
    return &sets_bytes_[std::size_t{number} * set_bytes_];
  }
  std::byte* set(std::uint32_t number) { return &sets_bytes_[std::size_t{number} * set_bytes_]; }
  const std::uint32_t* tags_of(std::uint32_t place) const {
    return reinterpret_cast<const std::uint32_t*>(set(place / most_ways));
  }
  std::uint32_t& tag_at(std::uint32_t place) {
    return reinterpret_cast<std::uint32_t*>(set(place / most_ways))[way_of(place)];
  }
  /// Returns how many lines of the set were used since; 0xff behind the last way.
  const std::uint8_t* ages_of(std::uint32_t place) const {
    return reinterpret_cast<const std::uint8_t*>(set(place / most_ways) + ages_at_);
  }
  std::uint8_t* ages_of(std::uint32_t place) {
    return reinterpret_cast<std::uint8_t*>(set(place / most_ways) + ages_at_);
  }
  const Line* lines_of(std::uint32_t place) const {
    return reinterpret_cast<const Line*>(set(place / most_ways) + lines_at_);
  }
  Line* lines_of(std::uint32_t place) {
    return reinterpret_cast<Line*>(set(place / most_ways) + lines_at_);
  }
  void prefetch(std::uint32_t line, std::size_t bytes) const {
    const std::byte* begin = set(set_of(line));
    for (std::size_t at = 0; at < bytes; at += cache_line_bytes) __builtin_prefetch(begin + at);
  }
  static std::uint64_t bit_of(std::uint32_t place) { return std::uint64_t{1} << way_of(place); }
  void make_older(std::uint32_t place, std::uint8_t age);

  std::uint32_t ways_, padded_ways_;  ///< number of ways, also rounded up to whole vectors
  std::uint32_t stride_shift_, set_shift_, sets_;
  bool power_of_two_;
  std::size_t ages_at_, lines_at_, set_bytes_;  ///< byte offsets within a set, and its size
  LineAlignedVector<std::byte> sets_bytes_;
  std::vector<std::array<std::uint32_t, 4>> masks_;
  std::vector<std::uint64_t> dirty_;  ///< ways with dirty sectors in each set
};

}  // namespace lockstep
