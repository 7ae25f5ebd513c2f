#include "models/sm/blocks/mistakes.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "core/error/error.hpp"
#include "models/isa/matrix/matrix_rows.hpp"
#include "models/isa/text/absent_lanes.hpp"
#include "models/isa/text/assertion.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

std::string hexadecimal(std::uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

Mistake Mistakes::by(const Warp& warp, std::uint32_t pc, unsigned lane, const std::string& what,
                     const std::string& advice) const {
  const GridSlot& grid = blocks_.grid_of(warp);
  const auto& size = grid.launch.threads;
  const auto triple = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  };
  const std::uint64_t thread = std::uint64_t{warp.warp_in_block} * isa::warp_size + lane;
  const auto& block = blocks_.block_of(warp).coordinates;
  const std::string line = pc < grid.program->source_lines.size()
                               ? ":" + std::to_string(grid.program->source_lines[pc])
                               : "";
  const auto& tenants = constants_.setup.tenants;
  const std::string tenant =
      warp.tenant < tenants.size() ? tenants[warp.tenant] : std::to_string(warp.tenant);
  return {grid.module->file + line,
          "tenant " + tenant + ", kernel " + isa::kernel_title(grid.program->name) + ", block " +
              triple(block[0], block[1], block[2]) + ", thread " +
              triple(thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]) +
              ": " + what,
          advice};
}

void Mistakes::user_error(const Warp& warp, std::uint32_t pc, unsigned lane,
                          const std::string& what, const std::string& advice) const {
  throw by(warp, pc, lane, what, advice);
}

void Mistakes::trapped(const Warp& warp, const isa::Instruction& trap, unsigned lane) const {
  const std::uint32_t pc = warp.paths.pc();
  if (!isa::is_assertion(trap)) {
    const isa::TrapMessage message = isa::message_of(trap);
    user_error(warp, pc, lane, message.what, message.advice);
  }
  const GridSlot& grid = blocks_.grid_of(warp);
  const isa::ModuleText text(*grid.module, grid.globals);
  user_error(warp, pc, lane, isa::assertion_text(trap, blocks_.context_of(warp), lane, text),
             isa::assertion_advice);
}

void Mistakes::misaligned(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                          unsigned bytes) const {
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if (((active >> lane) & 1) && (address[lane] & (bytes - 1)) != 0)
      user_error(warp, warp.paths.pc(), lane,
                 "misaligned access of " + std::to_string(bytes) + " bytes at " +
                     hexadecimal(address[lane]),
                 "addresses must be multiples of the access size");
  internal_error(__FILE__, __LINE__, "misaligned", "no lane is misaligned");
}

void Mistakes::require_whole_warp(const Warp& warp, const isa::Instruction& instruction,
                                  std::uint32_t lanes) const {
  if (lanes == isa::whole_warp) return;
  user_error(warp, warp.paths.pc(), static_cast<unsigned>(std::countr_zero(lanes)),
             isa::whole_warp_text(instruction.opcode, lanes), isa::whole_warp_advice);
}

void Mistakes::warn(const Warp& warp, const isa::WarpPaths::Absent& absent, SmCycle now) {
  const Mistake mistake = by(warp, absent.pc, absent.waiting, isa::gone_on_text(absent), "");
  const std::string key = std::to_string(warp.tenant) + " " + mistake.where;
  if (std::find(warned_.begin(), warned_.end(), key) != warned_.end()) return;
  warned_.push_back(key);
  const std::string texts = mistake.where + '\0' + mistake.what + '\0';
  ports_.tell_host(MessageKind::warning, TenantNotice{warp.tenant, {}},
                   std::as_bytes(std::span(texts)), now);
}

std::string Mistakes::name_of(const Warp& warp, const BufferBound& buffer) const {
  const auto& names = constants_.setup.buffers;
  if (warp.tenant < names.size() && buffer.buffer < names[warp.tenant].size())
    return "buffer " + names[warp.tenant][buffer.buffer];
  const GridSlot& grid = blocks_.grid_of(warp);
  for (std::size_t g = 0; g < grid.globals.size(); ++g)
    if (grid.globals[g] == buffer.address) return "variable " + grid.module->globals[g].name;
  return "a buffer";
}

void Mistakes::outside(const Warp& warp, std::uint32_t pc, unsigned lane, const std::string& kind,
                       unsigned bytes, std::uint64_t address,
                       const BufferBounds::Outside& outside) const {
  const BufferBound& nearest = *outside.nearest;
  const std::string name = name_of(warp, nearest);
  const std::string place =
      outside.is_before ? std::to_string(nearest.address - address) + " bytes before " + name
                        : "at offset " + std::to_string(address - nearest.address) + " of " + name +
                              ", which has " + std::to_string(nearest.bytes) + " bytes";
  const std::string hit =
      outside.hit ? " that its pointer points into, in " + name_of(warp, *outside.hit) : "";
  user_error(warp, pc, lane,
             kind + hexadecimal(address) + ", which is outside of every buffer" + hit + ": " +
                 std::to_string(bytes) + " bytes " + place,
             "an index runs over a buffer, or the buffer was freed");
}

void Mistakes::report(TenantId tenant, const Mistake& mistake, SmCycle now) {
  if (reported_[tenant.value()]) return;
  reported_[tenant.value()] = 1;
  const std::string texts = mistake.where + '\0' + mistake.what + '\0' + mistake.advice + '\0';
  ports_.tell_host(MessageKind::access_violation, TenantNotice{tenant.value(), {}},
                   std::as_bytes(std::span(texts)), now);
}

}  // namespace lockstep
