/// Squashed accesses of warps whose block leaves the SM and returns: the replay list of 000,
/// section 4.1, as a part of the block's context.
#include <algorithm>

#include "models/sm/exception_scheme/faultable_accesses.hpp"

namespace lockstep {

bool FaultableAccesses::all_squashed(WarpSlot warp) const {
  for (std::uint16_t index = warps_[warp.value()].first; index != none;
       index = accesses_[index].next)
    if (!accesses_[index].squashed || accesses_[index].in_unit) return false;
  return true;
}

bool FaultableAccesses::owes(const BlockSlot& block) const {
  bool owed = false;
  for_each_warp(block.warps, [&](WarpSlot warp) {
    for_each_of(warp, [&](const FaultableAccess& access) { owed |= access.owed; });
  });
  return owed;
}

std::vector<SquashedLanes> FaultableAccesses::take_out(std::uint16_t index, SmCycle now) {
  const FaultableAccess& access = accesses_[index];
  const WarpSlot warp(access.warp);
  OfWarp& own = warps_[warp.value()];
  scheme_->context_out(pipeline(), warp, record_of(access), now);
  std::vector<SquashedLanes> lanes;
  forget_squashed(index, [&](const SquashedLanes& some) { lanes.push_back(some); });
  own.first = access.next;
  --own.unchecked;
  accesses_.give_back(index);
  if (own.first == none) front_end_.held().set_accesses(warp, false);
  return lanes;
}

std::uint16_t FaultableAccesses::put_in(WarpSlot warp, std::uint32_t pc, SmCycle issued,
                                        std::vector<SquashedLanes> lanes) {
  const std::uint16_t index = follow(warp, pc, issued);
  accesses_[index].in_unit = false;
  accesses_[index].owed = true;
  for (SquashedLanes& some : lanes) {
    some.access = index;
    some.come = true;  // the block returns when all its pages have come
    add_squashed(some);
  }
  scheme_->context_in(pipeline(), warp, record_of(accesses_[index]));
  return index;
}

void FaultableAccesses::go_on_after_return(WarpSlot warp, SmCycle now) {
  if (warps_[warp.value()].first == none) return;
  front_end_.stop(warp);
  if (next_again(warp) != none) front_end_.begin_again(warp, now);
}

void FaultableAccesses::go_on_after_stop(WarpSlot warp, SmCycle now) {
  if (front_end_.held().stopped(warp) && next_again(warp) != none)
    front_end_.begin_again(warp, now);
}

}  // namespace lockstep
