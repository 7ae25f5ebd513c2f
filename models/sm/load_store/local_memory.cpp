/// Local memory: each thread's own arrays, spills and call frames, interleaved by lane.
///
/// Word w of the 32 lanes of a warp stands in one 128-byte line, so that lanes that use the same
/// offset touch one line.  A lane's data of more than 32 bits is accessed word by word.  Lines live
/// in L1 with a mask of dirty bytes and are written back when replaced; those of a finished block
/// are forgotten.
/// Source: architecture.md, section 8, rules 3 and 5; CUDA programming guide, "Local Memory".
#include <algorithm>

#include "models/sm/sm_state.hpp"

namespace lockstep {

std::uint64_t local_memory_bytes(const SmParameters& parameters) {
  return parameters.local_bytes_per_thread.count() * parameters.warps * isa::warp_size;
}

void SmState::check_local(const Warp& warp, const LaneAddresses& offset, std::uint32_t active,
                          unsigned bytes) const {
  const std::uint32_t limit = grids[warp.grid].program->local_bytes;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if (((active >> lane) & 1) && offset[lane] + bytes > limit) [[unlikely]]
      user_error(warp, warp.paths.pc(), lane,
                 "local address " + hexadecimal(offset[lane]) + " is outside of the thread's " +
                     std::to_string(limit) + " bytes",
                 grids[warp.grid].program->recursive
                     ? "calls nest too deeply, or an index runs over a local array"
                     : "an index runs over a local array");
}

void SmState::start_local(Access& access, const Warp& warp, const LaneAddresses& offset) {
  check_local(warp, offset, access.active, access.stride);
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if ((access.active >> lane) & 1)
      access.local_offset[lane] = static_cast<std::uint32_t>(offset[lane]);
  access.parts = static_cast<std::uint8_t>(std::max(1, access.stride / 4));
  coalesce_local(access);
}

bool SmState::next_part(Access& access) {
  if (++access.part >= access.parts) return false;
  coalesce_local(access);
  return true;
}

void SmState::coalesce_local(Access& access) {
  const std::uint64_t words = parameters.local_bytes_per_thread.count() / 4;
  const std::uint64_t base = local_base + access.warp * words * line_bytes;
  LaneAddresses address;
  const unsigned first = static_cast<unsigned>(std::countr_zero(access.active));
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    const unsigned from = (access.active >> lane) & 1 ? lane : first;
    const std::uint64_t offset = access.local_offset[from] + std::uint64_t{4} * access.part;
    address[lane] = base + offset / 4 * line_bytes + from * 4 + offset % 4;
  }
  coalesce(access, address, std::min<unsigned>(access.stride, 4));
  if (!access.contiguous) return;
  // The offsets of all lanes are wanted here.
  access.contiguous = false;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    access.offset[lane] = static_cast<std::uint8_t>(address[lane] & (line_bytes - 1));
}

void SmState::forget_local(const BlockSlot& block) {
  const std::uint64_t words = parameters.local_bytes_per_thread.count() / 4;
  for (std::uint32_t i = 0; i < l1.lines(); ++i) {
    const auto index = static_cast<std::uint16_t>(i);
    if (!l1.line(index).local || l1.line(index).reserved) continue;
    const std::uint64_t slot = (l1.line(index).tag - local_base / line_bytes) / words;
    if ((block.warps >> slot) & 1) l1.drop(index);
  }
}

}  // namespace lockstep
