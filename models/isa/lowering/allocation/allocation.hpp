#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::isa {

inline constexpr std::uint16_t no_row = 0xffff;
/// Rows that an encoded program can have.
inline constexpr std::uint32_t most_encoded_rows = 256;

/// Places of a function's virtual registers.  Registers keep their virtual numbers in the
/// operations; encode looks them up here.
struct Allocation {
  /// Row of each virtual register (the first, even for 64-bit types), or its predicate number;
  /// `no_row` when the register is never used.
  std::vector<std::uint16_t> row_of_register;
  /// Places among the registers of the same width; empty: those that follow from the rows.  An
  /// encoded program keeps pairs and single rows apart, so that a row which holds both in turn
  /// counts twice there.  A function for which that is too much has places that do not follow from
  /// its rows.
  std::vector<std::uint16_t> place_of_register;
  std::uint32_t rows = 0;        ///< number of rows used, from row 0 on
  std::uint32_t predicates = 0;  ///< number of predicates used, from predicate 0 on
  /// Registers that count for occupancy: rows, and those that a machine adds.
  std::uint32_t registers_per_thread = 0;
  std::uint64_t spill_bytes = 0;  ///< bytes per thread appended to Function::local_bytes
};

}  // namespace lockstep::isa
