#include "models/sm/bulk/copy_checks.hpp"

namespace lockstep {

void CopyChecks::require_right(const Warp& warp, Step step, const isa::BulkCopy& copy,
                               unsigned lane) const {
  const std::uint32_t pc = warp.paths.pc();
  const BlockSlot& block = blocks_.block_of(warp);
  if (const isa::InstructionMistake mistake =
          isa::bulk_copy_mistake(step, copy, block.shared_bytes))
    mistakes_.user_error(warp, pc, lane, mistake.what, mistake.advice);
  if (step != Step::prefetch) require_held(warp, pc, lane, step, copy.global, copy.bytes);
}

void CopyChecks::require_held(const Warp& warp, std::uint32_t pc, unsigned lane, Step step,
                              std::uint64_t address, std::uint64_t bytes) const {
  GridSlot& grid = blocks_.grid_of(warp);
  if (bytes == 0 || grid.holds(pc, address, bytes)) return;
  if (const auto outside = grid.bounds.find(pc, address, bytes,
                                            grid.issue->global_use.addresses[pc], grid.parameters))
    mistakes_.outside(warp, pc, lane, step == Step::load ? "bulk copy from " : "bulk copy to ",
                      static_cast<unsigned>(bytes), address, *outside);
}

}  // namespace lockstep
