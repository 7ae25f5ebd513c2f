#include "models/sm/load_store/delivery.hpp"

#include <bit>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"

namespace lockstep {

namespace {

void to_shared_memory(const Delivery& delivery, std::byte* shared, unsigned stride,
                      const std::byte* line) {
  isa::for_each_lane(delivery.lanes, [&](unsigned lane) {
    std::memcpy(shared + delivery.copy->to[lane], line + delivery.offset_of(lane, stride),
                delivery.copy->bytes[lane]);
  });
}

}  // namespace

void deliver(const Delivery& delivery, ResidentBlocks& blocks, const Warp& warp, std::uint32_t pc,
             const std::byte* line) {
  const isa::Instruction& instruction = blocks.instruction(warp, pc);
  const unsigned stride = lane_bytes(instruction.memory);
  if (delivery.copy != nullptr) [[unlikely]]
    return to_shared_memory(delivery, blocks.shared_memory_of(blocks.block_of(warp)), stride, line);
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
