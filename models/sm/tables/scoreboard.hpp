/// Scoreboard: the rows and predicates of a warp that wait for a result.
///
/// An instruction issues when none of the places it reads or writes is pending (five ANDs). Sources
/// are released by being read at issue, in order, so that they need no bits here
/// (front_end/pending_sources.hpp keeps them for longer where that is needed).  Destinations are
/// released when their results commit.
/// Source: gpu-parameters.md, section 10; hot-path.md ("Scoreboard test as four scalar ANDs").
#pragma once

#include <smmintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/sm/tables/warp_event.hpp"

namespace lockstep {

/// Returns the bits of a commit in the word of its place.
constexpr std::uint64_t pending_bits(std::uint16_t event) {
  static_assert(WarpEvent::pair == 512);
  return std::uint64_t{1u | (event / 256u & 2u)} << (event % 64);
}

/// Register rows only: memory never writes predicates, so events of predicates change nothing.
struct PendingRows {
  std::array<std::uint64_t, 4> places{};

  void mark(std::uint16_t event) { word(event) |= bits(event); }
  void clear(std::uint16_t event) { word(event) &= ~bits(event); }

 private:
  std::uint64_t& word(std::uint16_t event) { return places[WarpEvent::place(event) / 64 % 4]; }
  static std::uint64_t bits(std::uint16_t event) {
    return WarpEvent::place(event) < 256 ? pending_bits(event) : 0;
  }
};

/// Bits of the places: 256 rows, then 64 predicates.  The second row of a 64-bit register has
/// an odd number, so that both bits are in one word.
struct Scoreboard {
  static constexpr unsigned first_predicate = 256;

  std::array<std::uint64_t, 5> places{};

  bool meets(const Scoreboard& other) const {
    const auto both = [&](std::size_t word) {
      return _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&places[word])),
                           _mm_loadu_si128(reinterpret_cast<const __m128i*>(&other.places[word])));
    };
    const __m128i rows = _mm_or_si128(both(0), both(2));
    return _mm_testz_si128(rows, rows) == 0 || (places[4] & other.places[4]) != 0;
  }
  /// Returns whether some row is pending in `a` and in `b` as well as here.
  bool meets(const PendingRows& a, const Scoreboard& b) const {
    return ((places[0] & a.places[0] & b.places[0]) | (places[1] & a.places[1] & b.places[1]) |
            (places[2] & a.places[2] & b.places[2]) | (places[3] & a.places[3] & b.places[3])) != 0;
  }
  bool operator==(const Scoreboard&) const = default;
  bool empty() const { return (places[0] | places[1] | places[2] | places[3] | places[4]) == 0; }
  void mark(std::uint16_t event) { word(event) |= bits(event); }
  void clear(std::uint16_t event) { word(event) &= ~bits(event); }
  void mark(const Scoreboard& all) {
    for (std::size_t i = 0; i < places.size(); ++i) places[i] |= all.places[i];
  }
  void clear(const Scoreboard& all) {
    for (std::size_t i = 0; i < places.size(); ++i) places[i] &= ~all.places[i];
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(places);
  }

 private:
  std::uint64_t& word(std::uint16_t event) { return places[WarpEvent::place(event) / 64]; }
  static std::uint64_t bits(std::uint16_t event) { return pending_bits(event); }
};

}  // namespace lockstep
