#include "models/isa/text/assertion.hpp"

#include <cstring>

namespace lockstep::isa {

std::string assertion_text(const Instruction& trap, const WarpContext& context, unsigned lane,
                           const ModuleText& text) {
  const auto named_by = [&](Operand pointer) {
    std::uint64_t address = 0;
    std::memcpy(&address, context.row(pointer) + 2 * lane, sizeof address);
    return text.or_address(address);
  };
  const std::uint32_t line = context.row(trap.source[2])[lane];
  return "assertion `" + named_by(trap.source[0]) + "` failed at " + named_by(trap.source[1]) +
         ":" + std::to_string(line) + ", " + named_by(trap.source[3]);
}

}  // namespace lockstep::isa
