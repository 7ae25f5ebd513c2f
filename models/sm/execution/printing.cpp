#include "models/sm/execution/printing.hpp"

#include <span>

#include "models/vm/messages.hpp"

namespace lockstep {

void Printing::execute(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t active,
                       SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const GridSlot& grid = blocks_.grid_of(warp);
  const isa::ModuleText text(*grid.module, grid.globals);
  isa::WarpPrint& state = prints_[slot.value()];
  isa::WarpContext context = blocks_.context_of(warp);
  context.active = active;
  try {
    const std::string printed = state.execute(instruction, context, text);
    if (!printed.empty())
      ports_.tell_host(MessageKind::printed, TenantNotice{warp.tenant, {}},
                       std::as_bytes(std::span(printed)), now);
  } catch (const isa::WarpPrint::NoFormat& no_format) {
    mistakes_.user_error(warp, warp.paths.pc(), no_format.lane, no_format.what,
                         "formats and strings are found in the module's variables only");
  }
  if (state.empty()) forget(slot);
}

}  // namespace lockstep
