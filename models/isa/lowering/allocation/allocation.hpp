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
  std::uint32_t rows = 0;                  ///< rows used, from 0
  std::uint32_t predicates = 0;            ///< predicates used, from 0
  std::uint32_t registers_per_thread = 0;  ///< for occupancy: rows, and the registers that a
                                           ///< machine adds
  std::uint64_t spill_bytes = 0;           ///< appended to Function::local_bytes, per thread
};

}  // namespace lockstep::isa
