/// Fences, release and acquire.
///
/// A release waits until L2 has acknowledged the warp's own stores and atomics and those of its
/// block that a barrier has ordered before it.  An acquire drops the SM's clean global sectors and
/// keeps pending fills from being cached.  Block scope needs only the SM's own order. Source:
/// architecture.md, section 8, rule 4.
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

bool SmState::released(const Warp& warp) const {
  return warp.stores == 0 && blocks[warp.block].ordered_stores == 0;
}

void SmState::wait_for_acknowledgements(unsigned slot) {
  waits(StallCause::fence) |= bit(slot);
}

void SmState::fence(unsigned slot, const IssueRecord& record, std::int64_t now) {
  Warp& warp = warps[slot];
  if (record.flags & (IssueRecord::ordered_before | IssueRecord::ordered_after))
    ++statistics.tenant[warp.tenant].fences;
  if (record.flags & IssueRecord::ordered_after) l1.drop_clean();
  warp.paths.advance();
  resume_at(slot, now + record.latency);
}

void SmState::acknowledged(std::uint16_t index, std::int64_t now) {
  const StoreRecord record = stores[index];
  stores.give_back(index);
  Warp& warp = warps[record.warp];
  BlockSlot& block = blocks[warp.block];
  if (record.shootdown != TranslationUnit::none) [[unlikely]]
    shootdown_request_done(record.shootdown, now);
  --warp.stores;
  --(record.phase == block.phase ? block.fresh_stores : block.ordered_stores);
  std::uint64_t& fences = waits(StallCause::fence);
  if (std::uint64_t waiting_here = fences & block.warps; waiting_here != 0) [[unlikely]] {
    for (; waiting_here != 0; waiting_here &= waiting_here - 1) {
      const unsigned slot = static_cast<unsigned>(std::countr_zero(waiting_here));
      if (!released(warps[slot])) continue;
      fences &= ~bit(slot);
      evaluate(slot, now);
      wake = std::min(wake, now);
    }
  }
  if (warp.stores == 0 && (waits(StallCause::drain) & bit(record.warp))) {
    wake = std::min(wake, now);
    end_wait(StallCause::drain, record.warp, now);
  }
}

}  // namespace lockstep
