/// Meanings of ir::Operation::mode, by opcode (see semantics.hpp).
#pragma once

#include <cstdint>

namespace lockstep::isa {

enum class ShiftDirection : std::uint16_t { left, right };
enum class PermuteMode : std::uint16_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class ShuffleMode : std::uint16_t { up, down, bfly, idx };
enum class VoteMode : std::uint16_t { all, any, uni, ballot };
enum class MatchMode : std::uint16_t { any, all };
enum class ClassTest : std::uint16_t { finite, infinite, number, notanumber, normal, subnormal };

}  // namespace lockstep::isa
