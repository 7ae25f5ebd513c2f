/// Delivery of the bytes of a line to a memory instruction, whether L1 had the line or an answer
/// has brought it: to registers of the lanes, or to shared memory of their block.
///
/// The code that finds the bytes describes their lanes and places; only this file writes them.  A
/// new kind of destination is a new case of `deliver`.
/// Source: modern-isa.md, section 5.3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/sm/access/access.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/blocks/resident_blocks.hpp"

namespace lockstep {

struct Delivery {
  std::uint32_t lanes = 0;        ///< lanes that get bytes
  std::uint8_t first_lane = 0;    ///< first lane of the instruction in this line
  std::uint8_t first_offset = 0;  ///< place of the first lane's bytes in the line
  std::uint8_t part = 0;          ///< local memory: which 32-bit word of a lane's data
  bool local = false;
  bool contiguous = false;  ///< true: the bytes of the other lanes follow those of the first
  const std::uint8_t* offsets = nullptr;  ///< place of each lane's bytes, if not contiguous
  const CopyTarget* copy = nullptr;       ///< nullptr: the bytes go to registers
  std::byte* room = nullptr;  ///< destination of a copy that does not go to shared memory

  /// Returns where the lane's bytes stand in the line; `stride` is the bytes of a lane.
  unsigned offset_of(unsigned lane, unsigned stride) const {
    return contiguous ? first_offset + (lane - first_lane) * stride : offsets[lane];
  }
};

/// Delivers to shared memory of a block.  The delivery is passed by value, so that a delivery to
/// registers need not be stored in memory.
void deliver_copy(Delivery delivery, std::byte* shared, unsigned stride, const std::byte* line);

/// Writes the bytes of `line` that these lanes of the warp's instruction load.
[[gnu::always_inline]] inline void deliver(const Delivery& delivery, ResidentBlocks& blocks,
                                           const Warp& warp, const isa::Instruction& instruction,
                                           const std::byte* line) {
  const unsigned stride = lane_bytes(instruction.memory);
  if (delivery.copy != nullptr) [[unlikely]]
    return deliver_copy(
        delivery,
        delivery.room != nullptr ? delivery.room : blocks.shared_memory_of(blocks.block_of(warp)),
        stride, line);
  const isa::WarpContext context = blocks.context_of(warp);
  if (delivery.local) {
    scatter_part(instruction, context, delivery.lanes, line, delivery.offsets, delivery.part);
  } else if (delivery.contiguous) {
    const auto lane = static_cast<unsigned>(std::countr_zero(delivery.lanes));
    scatter_contiguous(instruction, context, delivery.lanes,
                       line + delivery.offset_of(lane, stride));
  } else {
    scatter_load(instruction, context, delivery.lanes, line, delivery.offsets);
  }
}

}  // namespace lockstep
