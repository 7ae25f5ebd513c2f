/// printf of kernels: what a warp has put together goes to the host.
///
/// Source: models/isa/text/warp_print.hpp; CUDA C++ Programming Guide, "Formatted Output".
///
/// Cost model: each `print` instruction takes the control unit's latency.  The text leaves through
/// the SM's port behind what was there before and arrives after the host link's latency, always
/// before the host hears of the end of its grid; it takes no bandwidth of port and link.
#include "models/sm/sm_state.hpp"

namespace lockstep {

void SmState::print(unsigned slot, const isa::Instruction& instruction, std::uint32_t active,
                    std::int64_t now) {
  Warp& warp = warps[slot];
  const GridSlot& grid = grids[warp.grid];
  const isa::ModuleText text(*grid.module, grid.globals);
  isa::WarpPrint& state = prints[slot];
  isa::WarpContext context = context_of(warp);
  context.active = active;
  try {
    const std::string printed = state.execute(instruction, context, text);
    if (!printed.empty())
      port.tell_host(MessageKind::printed, TenantNotice{warp.tenant, {}},
                     std::as_bytes(std::span(printed)), time_of(now), *outbox);
  } catch (const isa::WarpPrint::NoFormat& no_format) {
    user_error(warp, warp.paths.pc(), no_format.lane, no_format.what,
               "formats and strings are found in the module's variables only");
  }
  if (state.empty()) prints.erase(slot);
}

}  // namespace lockstep
