/// Lines of memory instructions that faults squash, and their return.
///
/// A squashed line leaves only a record of its lanes; its store is not under way any more.  An
/// instruction that is issued again computes addresses and data from the warp's registers, or takes
/// the values from the log that were read at first.
/// Source: 000, sections 3.2 and 3.3; virtual-memory-and-exceptions.md, section 2.8 with its
/// errata.
#include "models/sm/access/lane_data.hpp"
#include "models/sm/load_store/load_store_unit.hpp"

namespace lockstep {

void LoadStoreUnit::squash_line(const Access& access, unsigned group, TlbKey page, bool come,
                                SmCycle now) {
  FaultableAccess& record = faultable_[access.member];
  if (faultable_.logs_operands() && record.logged == FaultableAccesses::none)
    log_operands(record, access);
  forget_lines(access, 1);
  faultable_.squash({page, access.group[group].lanes, 1u << group, access.member, come}, now);
}

bool LoadStoreUnit::squash_behind_older(const Access& access, SmCycle now) {
  const TlbKey page = page_of(access, access.next);
  const SquashedLanes* older = faultable_.passed_by(access.member, page);
  if (older == nullptr) return false;
  squash_line(access, access.next, page, older->come, now);
  return true;
}

/// Keeps the given lines of a logged access; their order and contents stay the same.
static void keep_groups(Access& access, std::uint32_t groups) {
  unsigned kept = 0;
  for (; groups != 0; groups &= groups - 1)
    access.group[kept++] = access.group[static_cast<unsigned>(std::countr_zero(groups))];
  access.groups = static_cast<std::uint8_t>(kept);
  access.next = 0;
}

void LoadStoreUnit::issue_again(std::uint16_t member, SmCycle now) {
  const SquashedLanes left = faultable_.take_squashed(member);
  FaultableAccess& record = faultable_[member];
  const WarpSlot slot(record.warp);
  const Warp& warp = blocks_.warp(slot);
  const isa::Instruction& instruction = blocks_.instruction(warp, record.pc);
  ++statistics_.tenant[warp.tenant].reissued_instructions;
  Access& access =
      begin_access(slot, instruction, warp.records[record.pc], left.lanes, false, member);
  access.pc = record.pc;
  access.flight = record.flight;
  if (record.logged != FaultableAccesses::none) {
    const std::uint32_t phase = access.phase;
    access.take_global(log_[record.logged]);
    forget_logged(record);
    access.phase = phase;
    access.parked = ParkedPages::none;
    keep_groups(access, left.groups);
  } else {
    LaneAddresses address;
    lane_addresses(instruction, blocks_.context_of(warp), left.lanes, address);
    coalesce(access, address, access.stride);
    gather_data(access, instruction);
    if (access.kind == Access::Kind::copy)
      access.set(copy_target(instruction, blocks_.context_of(warp), left.lanes));
  }
  enter_queue(access, now);
  faultable_.go_on(slot, now);
  if (!faultable_.stopped(slot)) translation_.find_fault_waits(now);
}

}  // namespace lockstep
