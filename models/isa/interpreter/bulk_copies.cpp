/// Bulk copies are through where they stand: a legal outcome, as nobody may look before the wait.
#include <fmt/format.h>

#include <cstring>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

void BlockRunner::bulk_copy(Warp& warp, const Instruction& instruction, std::uint32_t active) {
  const auto step = static_cast<ir::BulkCopyStep>(instruction.detail);
  const std::uint32_t* places = row(warp, instruction.source[1]);
  const std::uint32_t* bytes = row(warp, instruction.source[2]);
  for_each_lane(active, [&](unsigned lane) {
    const BulkCopy copy = bulk_copy_of(address_of(warp, instruction, lane), places, bytes, lane);
    if (const MbarrierMistake mistake = bulk_copy_mistake(step, copy, shared_.size()))
      fail(warp, lane, mistake.what, mistake.advice);
    if (step == ir::BulkCopyStep::prefetch) return;
    if (copy.bytes != 0) {
      std::byte* global = state_.memory.find(copy.global, copy.bytes);
      if (global == nullptr)
        fail(warp, lane,
             fmt::format("out-of-bounds bulk copy of {} bytes at {:#x}", copy.bytes, copy.global),
             "check the index, and the size of what it goes into");
      if (state_.memory.is_fresh()) touch_fresh(warp, instruction, copy.global);
      std::byte* shared = shared_.data() + copy.shared;
      const bool loads = step == ir::BulkCopyStep::load;
      state_.changed = state_.changed || std::memcmp(shared, global, copy.bytes) != 0;
      std::memcpy(loads ? shared : global, loads ? global : shared, copy.bytes);
    }
    if (step == ir::BulkCopyStep::load) phase_waits_.complete(warp, lane, copy.barrier, copy.bytes);
  });
}

}  // namespace lockstep::isa
