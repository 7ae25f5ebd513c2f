#include "models/sm/exception_scheme/faultable_accesses.hpp"

#include <algorithm>

namespace lockstep {

/// Returns the page's bit in OfWarp::squashed_pages.
static std::uint64_t page_bit(TlbKey page) {
  return std::uint64_t{1} << (page.number() % 64);
}

FaultableAccesses::FaultableAccesses(const SmContext& sm, FrontEnd& front_end)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      front_end_(front_end),
      scheme_(make_exception_scheme(sm.constants.setup.exception_scheme)),
      preemptible_(scheme_->preemptible()),
      hears_commits_(scheme_->hears_commits()) {}

const PreciseRecord& FaultableAccesses::record_of(const FaultableAccess& access) const {
  return blocks_.grid_of(blocks_.warp(WarpSlot(access.warp))).issue->precise[access.pc];
}

std::optional<StallCause> FaultableAccesses::refusal(WarpSlot warp,
                                                     const PreciseRecord& record) const {
  if ((record.flags & PreciseRecord::waits_for_checks) && warps_[warp.value()].unchecked != 0)
    return StallCause::last_check;
  if ((record.flags & PreciseRecord::may_fault) == 0) return std::nullopt;
  return scheme_->refusal(pipeline(), warp, record);
}

std::uint16_t FaultableAccesses::begin(WarpSlot warp, std::uint32_t pc, SmCycle now) {
  const std::uint16_t index = follow(warp, pc, now);
  scheme_->issued(pipeline(), warp, record_of(accesses_[index]));
  return index;
}

std::uint16_t FaultableAccesses::follow(WarpSlot warp, std::uint32_t pc, SmCycle issued) {
  const std::uint16_t index = accesses_.take();
  FaultableAccess& access = accesses_[index];
  access = {};
  access.issued = issued;
  access.pc = pc;
  access.warp = static_cast<std::uint8_t>(warp.value());
  access.committed = !hears_commits_;
  OfWarp& own = warps_[warp.value()];
  ++own.unchecked;
  std::uint16_t* place = &own.first;
  while (*place != none) place = &accesses_[*place].next;
  *place = index;
  front_end_.held().set_accesses(warp, true);
  return index;
}

bool FaultableAccesses::left_unit(std::uint16_t index, SmCycle now) {
  FaultableAccess& access = accesses_[index];
  access.in_unit = false;
  const bool through = !access.squashed;
  if (through) looked_up(index, now);
  const WarpSlot warp(access.warp);
  if (front_end_.held().stopped(warp) && next_again(warp) != none)
    front_end_.begin_again(warp, now);
  return through;
}

void FaultableAccesses::looked_up(std::uint16_t index, SmCycle now) {
  FaultableAccess& access = accesses_[index];
  access.looked_up = true;
  access.owed = false;
  looked_up_.push(index);
  front_end_.tell_at(WarpSlot(access.warp), WarpEvent::last_check,
                     now + constants_.parameters.port.injection_latency.count() + 1);
}

/// `now`: the cycle after the last check, when other parts see it.
void FaultableAccesses::last_check(WarpSlot warp, SmCycle now) {
  // The access is the first one, unless checks of several warps in one cycle were reported in
  // another order.
  const std::uint16_t index = looked_up_.take_first(
      [&](std::uint16_t other) { return accesses_[other].warp == warp.value(); });
  FaultableAccess& access = accesses_[index];
  access.checked = true;
  --warps_[warp.value()].unchecked;
  SmStatistics::OfTenant& counts = statistics_.tenant[blocks_.tenant_of(warp).value()];
  const auto latency = static_cast<std::uint64_t>(now - 1 - access.issued);
  ++counts.last_checks;
  counts.last_check_cycles += latency;
  counts.last_check_latency.add(latency);
  scheme_->checked(pipeline(), warp, record_of(access), now);
  if (hears_commits_ &&
      access.flight == none) {  // a store or reduction commits in the cycle after its last check
    access.commits = now + 1;
    front_end_.tell_at(warp, WarpEvent::committed, now + 1);
  }
  leave_if_done(index);
  front_end_.look_again(warp, now);
}

void FaultableAccesses::commits_before(SmCycle when, WarpSlot warp, std::uint16_t flight) {
  std::uint16_t index = warps_[warp.value()].first;
  while (index != none &&
         (accesses_[index].flight != flight || accesses_[index].commits != no_cycle))
    index = accesses_[index].next;
  if (index == none) return;  // accesses to local memory and prefetches are not kept
  accesses_[index].commits = when;
  front_end_.tell_at(warp, WarpEvent::committed, when);
}

void FaultableAccesses::committed(WarpSlot warp, SmCycle now) {
  std::uint16_t index = warps_[warp.value()].first;
  while (accesses_[index].commits != now || accesses_[index].committed)
    index = accesses_[index].next;
  accesses_[index].committed = true;
  scheme_->committed(pipeline(), warp, record_of(accesses_[index]), now);
  leave_if_done(index);
  front_end_.look_again(warp, now);
}

void FaultableAccesses::leave_if_done(std::uint16_t index) {
  const FaultableAccess& access = accesses_[index];
  if (!access.checked || !access.committed) return;
  const WarpSlot warp(access.warp);
  OfWarp& own = warps_[warp.value()];
  std::uint16_t* place = &own.first;
  while (*place != index) place = &accesses_[*place].next;
  *place = access.next;
  accesses_.give_back(index);
  if (own.first == none) front_end_.held().set_accesses(warp, false);
}

void FaultableAccesses::block_entered(BlockPlace place) {
  scheme_->block_entered(pipeline(), place);
}

void FaultableAccesses::squash(const SquashedLanes& lanes, SmCycle now) {
  FaultableAccess& access = accesses_[lanes.access];
  const WarpSlot warp(access.warp);
  if (!access.squashed) ++statistics_.tenant[blocks_.tenant_of(warp).value()].squashed_instructions;
  add_squashed(lanes);
  front_end_.stop(warp);
  if (lanes.come && next_again(warp) != none) front_end_.begin_again(warp, now);
}

/// Adds the lanes to the access, behind its lanes that are squashed already.
void FaultableAccesses::add_squashed(const SquashedLanes& lanes) {
  FaultableAccess& access = accesses_[lanes.access];
  access.squashed = true;
  access.come |= lanes.come;
  warps_[access.warp].squashed_pages |= page_bit(lanes.page);
  const std::uint16_t added = squashed_.take();
  squashed_[added] = lanes;
  squashed_[added].next = none;
  std::uint16_t* place = &access.first_squashed;
  while (*place != none) place = &squashed_[*place].next;
  *place = added;
}

const SquashedLanes* FaultableAccesses::passed_by(std::uint16_t index, TlbKey page) const {
  const WarpSlot warp(accesses_[index].warp);
  if (!front_end_.held().stopped(warp)) return nullptr;
  for (std::uint16_t older = warps_[warp.value()].first; older != index;
       older = accesses_[older].next)
    for (std::uint16_t at = accesses_[older].first_squashed; at != none; at = squashed_[at].next)
      if (squashed_[at].page == page) return &squashed_[at];
  return nullptr;
}

bool FaultableAccesses::come(TlbKey page, SmCycle now) {
  bool waited_for = false;
  for_each_warp(stopped_warps(), [&](WarpSlot warp) {
    if ((warps_[warp.value()].squashed_pages & page_bit(page)) == 0) return;
    for_each_squashed_of(warp, [&](SquashedLanes& lanes) {
      if (lanes.page != page) return;
      waited_for = true;
      lanes.come = accesses_[lanes.access].come = true;
      if (next_again(warp) != none) front_end_.begin_again(warp, now);
    });
  });
  return waited_for;
}

/// Accesses are issued again in program order: of two accesses to one page the older one goes
/// first. A younger access in the load-store unit would pass the older one there.
std::uint16_t FaultableAccesses::next_again(WarpSlot warp) const {
  std::uint16_t oldest = none;
  for (std::uint16_t index = warps_[warp.value()].first; index != none;
       index = accesses_[index].next) {
    if (oldest == none && accesses_[index].come) oldest = index;
    if (oldest != none && accesses_[index].in_unit) return none;
  }
  return oldest;
}

SquashedLanes FaultableAccesses::take_squashed(std::uint16_t index) {
  SquashedLanes all;
  all.access = index;
  forget_squashed(index, [&](const SquashedLanes& lanes) {
    all.lanes |= lanes.lanes;
    all.groups |= lanes.groups;
  });
  accesses_[index].in_unit = true;
  return all;
}

void FaultableAccesses::update_stop(WarpSlot warp) {
  for (std::uint16_t index = warps_[warp.value()].first; index != none;
       index = accesses_[index].next)
    if (accesses_[index].squashed) return;
  warps_[warp.value()].squashed_pages = 0;
  front_end_.held().go_on(warp);
}

void FaultableAccesses::go_on(WarpSlot warp, SmCycle now) {
  update_stop(warp);
  front_end_.issued_again(warp, next_again(warp) != none, now);
}

void FaultableAccesses::serialize(Archive& archive) {
  archive.section("sm/faultable_accesses", 6);
  archive(warps_, accesses_, looked_up_, squashed_);
  scheme_->serialize(archive);
}

}  // namespace lockstep
