/// Registers of a fragment, in which a lane's neighbours hold the next words of its row, converted
/// to matrices by word or column, in which they hold the next rows; and back.
///
/// Lane 4 g + t: a register is a matrix of eight rows g and four places t, which is transposed.
#pragma once

#include "models/isa/semantics/matrix/terms.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

#ifdef __AVX2__
/// Eight words, in either half four of a row: of g and of g + 4.
typedef u32 RowWords __attribute__((vector_size(32)));
#define LOCKSTEP_LOW_WORDS 0, 8, 1, 9, 4, 12, 5, 13
#define LOCKSTEP_HIGH_WORDS 2, 10, 3, 11, 6, 14, 7, 15
#define LOCKSTEP_LOW_PAIRS 0, 1, 8, 9, 4, 5, 12, 13
#define LOCKSTEP_HIGH_PAIRS 2, 3, 10, 11, 6, 7, 14, 15
#else
typedef u32 RowWords __attribute__((vector_size(16)));
#define LOCKSTEP_LOW_WORDS 0, 4, 1, 5
#define LOCKSTEP_HIGH_WORDS 2, 6, 3, 7
#define LOCKSTEP_LOW_PAIRS 0, 1, 4, 5
#define LOCKSTEP_HIGH_PAIRS 2, 3, 6, 7
#endif
constexpr unsigned words_at_once = sizeof(RowWords) / 4;

struct FourRows {
  RowWords row[4];
};
/// Transposes 4 x 4 words in each half.
LOCKSTEP_INLINE FourRows turned(const FourRows& from) {
  const RowWords low01 = __builtin_shufflevector(from.row[0], from.row[1], LOCKSTEP_LOW_WORDS);
  const RowWords high01 = __builtin_shufflevector(from.row[0], from.row[1], LOCKSTEP_HIGH_WORDS);
  const RowWords low23 = __builtin_shufflevector(from.row[2], from.row[3], LOCKSTEP_LOW_WORDS);
  const RowWords high23 = __builtin_shufflevector(from.row[2], from.row[3], LOCKSTEP_HIGH_WORDS);
  return {{__builtin_shufflevector(low01, low23, LOCKSTEP_LOW_PAIRS),
           __builtin_shufflevector(low01, low23, LOCKSTEP_HIGH_PAIRS),
           __builtin_shufflevector(high01, high23, LOCKSTEP_LOW_PAIRS),
           __builtin_shufflevector(high01, high23, LOCKSTEP_HIGH_PAIRS)}};
}
#undef LOCKSTEP_LOW_WORDS
#undef LOCKSTEP_HIGH_WORDS
#undef LOCKSTEP_LOW_PAIRS
#undef LOCKSTEP_HIGH_PAIRS

/// Returns the four words of row g, and those of row g + 4 if there are two halves.
LOCKSTEP_INLINE RowWords load_row(const u32* lanes, unsigned g) {
  RowWords row;
  for (unsigned half = 0; half < words_at_once / 4; ++half)
    __builtin_memcpy(reinterpret_cast<u32*>(&row) + 4 * half, lanes + 4 * g + 16 * half, 16);
  return row;
}
LOCKSTEP_INLINE void store_row(u32* lanes, unsigned g, const RowWords& row) {
  for (unsigned half = 0; half < words_at_once / 4; ++half)
    __builtin_memcpy(lanes + 4 * g + 16 * half, reinterpret_cast<const u32*>(&row) + 4 * half, 16);
}

/// Takes a register apart: to[t * pitch + g] = lanes[4 * g + t].
LOCKSTEP_INLINE void turn_lanes(u32* to, unsigned pitch, const u32* lanes) {
  for (unsigned first = 0; first < 8; first += words_at_once) {
    FourRows rows;
    for (unsigned g = 0; g < 4; ++g) rows.row[g] = load_row(lanes, first + g);
    rows = turned(rows);
    for (unsigned t = 0; t < 4; ++t)
      __builtin_memcpy(to + t * pitch + first, &rows.row[t], sizeof(RowWords));
  }
}
/// Puts a register together: lanes[4 * g + t] = from[t * pitch + g].
LOCKSTEP_INLINE void turn_back(u32* lanes, const u32* from, unsigned pitch) {
  for (unsigned first = 0; first < 8; first += words_at_once) {
    FourRows rows;
    for (unsigned t = 0; t < 4; ++t)
      __builtin_memcpy(&rows.row[t], from + t * pitch + first, sizeof(RowWords));
    rows = turned(rows);
    for (unsigned g = 0; g < 4; ++g) store_row(lanes, first + g, rows.row[g]);
  }
}

// Lane 0 of a register stands for all its lanes, which are the next rows and words.
/// A form m8 fills the rows below 8.
LOCKSTEP_INLINE void gather_a(Words<most_rows>& to, const u32* const* rows, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg)
    turn_lanes(&to.word[fragment::a_word(0, reg)][fragment::a_row(0, reg)], most_rows, rows[reg]);
}
LOCKSTEP_INLINE void gather_b(Words<most_columns>& to, const u32* const* rows, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg)
    turn_lanes(&to.word[fragment::b_word(0, reg)][fragment::b_column(0)], most_columns, rows[reg]);
}
/// Columns of neighbouring t are two apart.
LOCKSTEP_INLINE void gather_c(Results& to, const u32* const* rows, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg)
    turn_lanes(&to.element[fragment::c_column(0, reg)][fragment::c_row(0, reg)], 2 * most_rows,
               rows[reg]);
}
LOCKSTEP_INLINE void scatter_d(u32* const* rows, const Results& from, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg)
    turn_back(rows[reg], &from.element[fragment::c_column(0, reg)][fragment::c_row(0, reg)],
              2 * most_rows);
}
LOCKSTEP_INLINE void gather_half_c(Results& to, const u32* const* rows, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg) {
    const unsigned row = fragment::half_c_row(0, reg);
    turn_lanes(&to.element[1][row], 2 * most_rows, rows[reg]);
    for (unsigned column = 0; column < most_columns; column += 2) LOCKSTEP_ACROSS(8) {
        const u32 pair = to.element[column + 1][row + i];
        to.element[column][row + i] = pair & 0xffff;
        to.element[column + 1][row + i] = pair >> 16;
      }
  }
}
LOCKSTEP_INLINE void scatter_half_d(u32* const* rows, const Results& from, unsigned registers) {
  for (unsigned reg = 0; reg < registers; ++reg) {
    const unsigned row = fragment::half_c_row(0, reg);
    alignas(32) u32 pairs[4][8];
    for (unsigned t = 0; t < 4; ++t) LOCKSTEP_ACROSS(8)
    pairs[t][i] = from.element[2 * t][row + i] | from.element[2 * t + 1][row + i] << 16;
    turn_back(rows[reg], pairs[0], 8);
  }
}

}  // namespace
}  // namespace lockstep::isa::LOCKSTEP_LEVEL
