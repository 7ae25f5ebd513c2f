#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::isa {

inline constexpr std::uint16_t no_row = 0xffff;

/// Places of a function's virtual registers.  Registers keep their virtual numbers in the
/// operations; encode looks them up here.
struct Allocation {
  /// Row of each virtual register (the first, even for 64-bit types), or its predicate number;
  /// `no_row` when the register is never used.
  std::vector<std::uint16_t> row_of_register;
  std::uint32_t rows = 0;        ///< number of rows used, from row 0 on
  std::uint32_t predicates = 0;  ///< number of predicates used, from predicate 0 on
  /// Registers that count for occupancy: rows, and those that a machine adds.
  std::uint32_t registers_per_thread = 0;
  std::uint64_t spill_bytes = 0;  ///< bytes per thread appended to Function::local_bytes
};

}  // namespace lockstep::isa
