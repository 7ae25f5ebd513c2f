#include "models/isa/interpreter/bulk_copies.hpp"

#include <fmt/format.h>

#include <cstring>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

/// Memory is fresh to which nothing was written.
void BulkCopies::touch_fresh(const InterpretedWarp& warp, std::uint64_t address, bool reads) {
  LaunchState& state = block_.state_;
  if (reads && state.launch.fresh_read)
    state.launch.fresh_read(address,
                            block_.place_of(warp) + ": kernel " + kernel_title(state.program.name));
  state.memory.end_freshness();
}

void BulkCopies::copy(const InterpretedWarp& warp, const Instruction& instruction,
                      std::uint32_t active) {
  const auto step = static_cast<ir::BulkCopyStep>(instruction.detail);
  const std::uint32_t* places = block_.row(warp, instruction.source[1]);
  const std::uint32_t* bytes = block_.row(warp, instruction.source[2]);
  for_each_lane(active, [&](unsigned lane) {
    const BulkCopy copy =
        bulk_copy_of(block_.address_of(warp, instruction, lane), places, bytes, lane);
    if (const MbarrierMistake mistake = bulk_copy_mistake(step, copy, block_.shared_.size()))
      block_.fail(warp, lane, mistake.what, mistake.advice);
    if (step == ir::BulkCopyStep::prefetch) return;
    if (copy.bytes != 0) {
      std::byte* global = block_.state_.memory.find(copy.global, copy.bytes);
      if (global == nullptr)
        block_.fail(
            warp, lane,
            fmt::format("out-of-bounds bulk copy of {} bytes at {:#x}", copy.bytes, copy.global),
            "check the index, and the size of what it goes into");
      const bool loads = step == ir::BulkCopyStep::load;
      if (block_.state_.memory.is_fresh()) touch_fresh(warp, copy.global, loads);
      std::byte* shared = block_.shared_.data() + copy.shared;
      block_.state_.changed = block_.state_.changed || std::memcmp(shared, global, copy.bytes) != 0;
      std::memcpy(loads ? shared : global, loads ? global : shared, copy.bytes);
    }
    if (step == ir::BulkCopyStep::load)
      block_.phase_waits_.complete(warp, lane, copy.barrier, copy.bytes);
  });
}

}  // namespace lockstep::isa
