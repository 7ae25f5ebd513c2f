/// Moves vectors of two or four 32-bit words between lanes' places in memory and registers, four
/// lanes at once: a vector stands together in memory, and its words in different rows.
#pragma once

#include <smmintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"

namespace lockstep {

/// Registers of a vector, by its words; nullptr: the word is not wanted.
using VectorRows = std::array<std::uint32_t*, 4>;

/// Returns whether the instruction moves vectors of two or four 32-bit words.
inline bool moves_vectors(const isa::MemoryFields& memory) {
  return moves_words(memory) && (memory.elements == 2 || memory.elements == 4);
}

/// Puts four rows of four words into columns: put(i, words i of take(0) to take(3)).
template <class Take, class Put>
void transpose(const Take& take, const Put& put) {
  __m128 a = take(0), b = take(1), c = take(2), d = take(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  put(0, a);
  put(1, b);
  put(2, c);
  put(3, d);
}

/// Loads the vectors of four lanes.  `from`: where each vector stands.
template <unsigned words>
void load_four(const VectorRows& rows, unsigned lane, const std::array<const std::byte*, 4>& from) {
  const auto put = [&](unsigned e, __m128 of_word) {
    if (rows[e] != nullptr) _mm_storeu_ps(reinterpret_cast<float*>(rows[e] + lane), of_word);
  };
  if constexpr (words == 4) {
    const auto of_lane = [&](unsigned i) {
      return _mm_loadu_ps(reinterpret_cast<const float*>(from[i]));
    };
    transpose(of_lane, put);
  } else {
    const auto of_two = [&](unsigned i) {
      const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from[i]));
      const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from[i + 1]));
      return _mm_castsi128_ps(_mm_unpacklo_epi64(first, second));
    };
    const __m128 low = of_two(0), high = of_two(2);
    put(0, _mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
    put(1, _mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));
  }
}

/// Stores the vectors of four lanes.
template <unsigned words>
void store_four(const VectorRows& rows, unsigned lane, const std::array<std::byte*, 4>& to) {
  const auto row = [&](unsigned e) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(rows[e] + lane));
  };
  if constexpr (words == 4) {
    const auto put = [&](unsigned i, __m128 of_lane) {
      _mm_storeu_ps(reinterpret_cast<float*>(to[i]), of_lane);
    };
    transpose(row, put);
  } else {
    const __m128 low = _mm_unpacklo_ps(row(0), row(1)), high = _mm_unpackhi_ps(row(0), row(1));
    _mm_storel_pi(reinterpret_cast<__m64*>(to[0]), low);
    _mm_storeh_pi(reinterpret_cast<__m64*>(to[1]), low);
    _mm_storel_pi(reinterpret_cast<__m64*>(to[2]), high);
    _mm_storeh_pi(reinterpret_cast<__m64*>(to[3]), high);
  }
}

/// Calls four(first lane, places of four lanes) for each group of four active lanes, and one(lane,
/// place) for the other active ones, in the order of lanes.  `place(lane)`: where a lane's vector
/// stands.
template <class Place, class Four, class One>
void by_fours(std::uint32_t lanes, const Place& place, const Four& four, const One& one) {
  for (unsigned lane = 0; lane < 32; lane += 4) {
    const std::uint32_t active = lanes >> lane & 0xf;
    if (active == 0xf)
      four(lane, std::array{place(lane), place(lane + 1), place(lane + 2), place(lane + 3)});
    else
      isa::for_each_lane(active, [&](unsigned i) { one(lane + i, place(lane + i)); });
  }
}

template <unsigned words, class Place>
void load_vectors_of(const VectorRows& rows, std::uint32_t lanes, const Place& place) {
  by_fours(
      lanes, place,
      [&](unsigned lane, const std::array<const std::byte*, 4>& from) {
        load_four<words>(rows, lane, from);
      },
      [&](unsigned lane, const std::byte* from) {
        for (unsigned e = 0; e < words; ++e)
          if (rows[e] != nullptr) std::memcpy(rows[e] + lane, from + 4 * e, 4);
      });
}

template <unsigned words, class Place>
void store_vectors_of(const VectorRows& rows, std::uint32_t lanes, const Place& place) {
  by_fours(
      lanes, place,
      [&](unsigned lane, const std::array<std::byte*, 4>& to) {
        store_four<words>(rows, lane, to);
      },
      [&](unsigned lane, std::byte* to) {
        for (unsigned e = 0; e < words; ++e) std::memcpy(to + 4 * e, rows[e] + lane, 4);
      });
}

/// Loads a vector for each of these lanes from place(lane), for an instruction that
/// moves_vectors().
template <class Place>
void load_vectors(const isa::Instruction& instruction, const isa::WarpContext& context,
                  std::uint32_t lanes, const Place& place) {
  const unsigned words = instruction.memory.elements;
  VectorRows rows{};
  for (unsigned e = 0; e < words; ++e)
    if (instruction.destination[e].valid()) rows[e] = context.row(instruction.destination[e]);
  words == 4 ? load_vectors_of<4>(rows, lanes, place) : load_vectors_of<2>(rows, lanes, place);
}

/// Stores the vector of each of these lanes at place(lane), for an instruction that
/// moves_vectors().
template <class Place>
void store_vectors(const isa::Instruction& instruction, const isa::WarpContext& context,
                   std::uint32_t lanes, const Place& place) {
  const unsigned words = instruction.memory.elements;
  VectorRows rows{};
  for (unsigned e = 0; e < words; ++e) rows[e] = context.row(instruction.source[1 + e]);
  words == 4 ? store_vectors_of<4>(rows, lanes, place) : store_vectors_of<2>(rows, lanes, place);
}

}  // namespace lockstep
