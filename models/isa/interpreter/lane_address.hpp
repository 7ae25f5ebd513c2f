#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/instruction.hpp"

namespace lockstep::isa {

/// Returns the address of a lane's access; `base`: row of the address register, nullptr if there is
/// none.
inline std::uint64_t address_of(const Instruction& instruction, const std::uint32_t* base,
                                unsigned lane) {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(instruction.offset));
  if (base == nullptr) return offset;
  if ((instruction.flags & flag_address_wide) == 0)
    return static_cast<std::uint32_t>(base[lane] + offset);
  std::uint64_t address = 0;
  std::memcpy(&address, base + std::size_t{2} * lane, sizeof address);
  return address + offset;
}

}  // namespace lockstep::isa
