#include "models/isa/interpreter/async_stores.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "models/isa/atomic.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

void AsyncStores::store(const InterpretedWarp& warp, const Instruction& instruction,
                        std::uint32_t active) {
  for_each_lane(active, [&](unsigned lane) { store_lane(warp, instruction, lane); });
}

void AsyncStores::store_lane(const InterpretedWarp& warp, const Instruction& instruction,
                             unsigned lane) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type), bytes = size * fields.elements;
  const bool stores = fields.atomic == AtomicOperation::none;
  const std::uint64_t places = block_.address_of(warp, instruction, lane);
  const auto target = block_.in_cluster_.find(warp, lane, static_cast<std::uint32_t>(places),
                                              stores ? "st.async" : "red.async");
  const auto barrier =
      block_.in_cluster_.find(warp, lane, static_cast<std::uint32_t>(places >> 32), "mbarrier");
  const auto what = [&] {
    return fmt::format("{} of {} bytes at shared::cluster address {:#x}",
                       stores ? "st.async" : "red.async", bytes, places & 0xffffffff);
  };
  if (target.offset % bytes != 0)
    block_.fail(warp, lane, "misaligned " + what(), "addresses are multiples of the access size");
  block_.in_cluster_.require_same_block(warp, lane, target, barrier);
  std::byte* place = target.block->shared_bytes(target.offset, bytes);
  if (place == nullptr)
    block_.fail(warp, lane, "out-of-bounds " + what(),
                "check the index, and the size of what it goes into");
  std::array<std::byte, 16> data{}, before{};
  for (unsigned e = 0; e < fields.elements; ++e)
    std::memcpy(data.data() + std::size_t{e} * size,
                block_.row(warp, instruction.source[1 + e]) +
                    (fields.register_bytes == 8 ? 2 * lane : lane),
                size);
  std::memcpy(before.data(), place, bytes);
  if (stores) {
    std::memcpy(place, data.data(), bytes);
  } else {
    AtomicWord operand{};
    std::uint64_t old = 0, value = 0;
    std::memcpy(&value, data.data(), size);
    operand = {value, 0};
    modify({fields.atomic, fields.type, 1}, place, &operand, &old);
  }
  block_.state_.changed |= std::memcmp(before.data(), place, bytes) != 0;
  block_.in_cluster_.complete(warp, lane, barrier, bytes);
}

}  // namespace lockstep::isa
