#include "models/sm/load_store/local_memory.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

void coalesce_local(Access& access, PhysicalAddress home) {
  const std::uint64_t base = home.value();
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

void check_local(const ResidentBlocks& blocks, const Mistakes& mistakes, const Warp& warp,
                 const LaneAddresses& offset, std::uint32_t active, unsigned bytes) {
  const isa::Program& program = *blocks.grid_of(warp).program;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if (((active >> lane) & 1) && offset[lane] + bytes > program.local_bytes) [[unlikely]]
      mistakes.user_error(
          warp, warp.paths.pc(), lane,
          "local address " + hexadecimal(offset[lane]) + " is outside of the thread's " +
              std::to_string(program.local_bytes) + " bytes",
          program.recursive ? "calls nest too deeply, or an index runs over a local array"
                            : "an index runs over a local array");
}

void start_local(Access& access, PhysicalAddress home, const LaneAddresses& offset) {
  for (unsigned lane = 0; lane < isa::warp_size; ++lane)
    if ((access.active >> lane) & 1)
      access.local_offset[lane] = static_cast<std::uint32_t>(offset[lane]);
  access.parts = static_cast<std::uint8_t>(std::max(1, access.stride / 4));
  coalesce_local(access, home);
}

}  // namespace lockstep
