#pragma once

#include <cstdint>

namespace lockstep::isa {

/// Operation::mode of a bra to a loop that is not unrolled because of `.pragma "nounroll"`.
inline constexpr std::uint16_t branch_keeps_rolled = 1;

}  // namespace lockstep::isa
