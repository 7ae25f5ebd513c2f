/// Texts about lanes that a `.sync` instruction names and that do not come to it.
#pragma once

#include <string>

#include "models/isa/divergence.hpp"

namespace lockstep::isa {

/// Returns lanes as text: "lanes 0-3, 7", "lane 5".
std::string lane_list(std::uint32_t lanes);

/// Returns the text for an instruction that went on without lanes, or whose mask does not name a
/// lane that executes it.
std::string gone_on_text(const WarpPaths::Absent& absent);
/// Returns the text for lanes that the instruction waits for, for ever.
std::string never_met_text(const WarpPaths::Absent& absent);
/// Returns the text for an instruction that needs all lanes of a warp, while only these execute it.
std::string whole_warp_text(Opcode opcode, std::uint32_t lanes);
inline constexpr const char* whole_warp_advice =
    "let all 32 threads of a warp come to it: blocks of whole warps, no branch or guard that parts "
    "them";
inline constexpr const char* never_met_advice =
    "name in the mask only lanes that come to the instruction, as __activemask() or the ballot of "
    "the branch's condition tells";

}  // namespace lockstep::isa
