#include "models/isa/text/absent_lanes.hpp"

#include <fmt/format.h>

#include <bit>

#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {

std::string lane_list(std::uint32_t lanes) {
  std::string text = std::has_single_bit(lanes) ? "lane" : "lanes";
  const char* separator = " ";
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const unsigned first = lane;
    while (lane < 31 && (lanes >> (lane + 1) & 1) != 0) ++lane;
    text += fmt::format("{}{}", separator, first);
    if (lane > first) text += fmt::format("-{}", lane);
    separator = ", ";
  }
  return text;
}

std::string gone_on_text(const WarpPaths::Absent& absent) {
  if (absent.lanes == 0)
    return fmt::format(
        "lane {} executes an instruction with the mask {:#010x}, which does not name it (undefined "
        "by PTX): it hears of the lanes that the mask names - {}",
        absent.waiting, absent.members, never_met_advice);
  return fmt::format(
      "an instruction with the mask {:#010x} goes on without {} of its warp, which the mask names "
      "and which do not come to it: what comes from there is zero (undefined by PTX; hardware goes "
      "on, too) - {}",
      absent.members, lane_list(absent.lanes), never_met_advice);
}

std::string whole_warp_text(Opcode opcode, std::uint32_t lanes) {
  return fmt::format("{} needs all lanes of the warp, and {} {} not there (undefined by PTX)",
                     facts_of(opcode).name, lane_list(~lanes),
                     std::has_single_bit(~lanes) ? "is" : "are");
}

std::string never_met_text(const WarpPaths::Absent& absent) {
  return fmt::format(
      "waits for ever for {} of its warp, which the mask {:#010x} names and which do "
      "not come to the same instruction",
      lane_list(absent.lanes), absent.members);
}

}  // namespace lockstep::isa
