/// What a thread did wrong: the host hears of it once per tenant and ends the tenant; others go on.
#include "models/isa/text/assertion.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

std::string hexadecimal(std::uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

SmState::Mistake SmState::mistake(const Warp& warp, std::uint32_t pc, unsigned lane,
                                  const std::string& what, const std::string& advice) const {
  const GridSlot& grid = grids[warp.grid];
  const auto& size = grid.launch.threads;
  const auto triple = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  };
  const std::uint64_t thread = std::uint64_t{warp.warp_in_block} * isa::warp_size + lane;
  const auto& block = blocks[warp.block].coordinates;
  const std::string line = pc < grid.program->source_lines.size()
                               ? ":" + std::to_string(grid.program->source_lines[pc])
                               : "";
  const std::string tenant =
      warp.tenant < setup.tenants.size() ? setup.tenants[warp.tenant] : std::to_string(warp.tenant);
  return {grid.module->file + line,
          "tenant " + tenant + ", kernel " + grid.program->name + ", block " +
              triple(block[0], block[1], block[2]) + ", thread " +
              triple(thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]) +
              ": " + what,
          advice};
}

void SmState::user_error(const Warp& warp, std::uint32_t pc, unsigned lane, const std::string& what,
                         const std::string& advice) const {
  throw mistake(warp, pc, lane, what, advice);
}

void SmState::trapped(const Warp& warp, const isa::Instruction& trap, unsigned lane) const {
  const std::uint32_t pc = warp.paths.pc();
  if (isa::is_free(trap))
    user_error(warp, pc, lane, isa::free_text,
               "keep objects in buffers or variables and leave out their delete");
  if (!isa::is_assertion(trap))
    user_error(warp, pc, lane, "trap executed", "the program itself gave up here");
  const GridSlot& grid = grids[warp.grid];
  const isa::ModuleText text(*grid.module, grid.globals);
  user_error(warp, pc, lane, isa::assertion_text(trap, context_of(warp), lane, text), "");
}

void SmState::report(std::uint16_t tenant, const Mistake& mistake, std::int64_t now) {
  if (tenant_violated[tenant]) return;
  tenant_violated[tenant] = 1;
  const std::string texts = mistake.where + '\0' + mistake.what + '\0' + mistake.advice + '\0';
  port.tell_host(MessageKind::access_violation, TenantNotice{tenant, {}},
                 std::as_bytes(std::span(texts)), time_of(now), *outbox);
}

void SmState::halt(unsigned slot, const Mistake& mistake, std::int64_t now) {
  waits(StallCause::barrier) |= bit(slot);  // none will release it
  report(warps[slot].tenant, mistake, now);
}

}  // namespace lockstep
