/// The load-store unit: memory instructions between issue and their last translation check.
///
/// An instruction's lanes are grouped by line when it issues; the groups are looked up in order, a
/// few per cycle, one instruction after the other.  A group that finds no room (miss entry, line,
/// request queue) holds up everything behind it until an answer comes.  Parked lines whose page has
/// come go first. With `l1.banked` an instruction occupies L1's data for as many cycles as its
/// words conflict; this may be fewer cycles than it has lines, since a few tags are compared in
/// each.  With `l1.tag_banks` an instruction takes as many cycles as the fullest tag bank has lines
/// of it, and no other instruction compares tags meanwhile.
/// Source: gpu-parameters.md, sections 7 and 10 (one access per cycle to the L1 structures);
/// te42kyfo/gpu-benches, strides of L1 hits (four tags a cycle, then conflicts of 32 banks).
///
/// Simplified: the pipeline in front of the tags is a constant part of latencies. So a group is
/// looked up in the cycle in which its instruction issues, unless other groups are ahead. Lines
/// that wait for their bank of tags are spread evenly over the instruction's cycles.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/load_store/line_access.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/translation/parked_lines.hpp"
#include "models/sm/translation/translation.hpp"

namespace lockstep {

class LoadStoreUnit final : public ParkedLines {
 public:
  LoadStoreUnit(const SmContext& sm, FrontEnd& front_end, FaultableAccesses& faultable,
                Translation& translation, LineAccess& lines, Flights& flights);

  /// Enters all lanes of a load or store if their global addresses are consecutive, as most are, so
  /// that no work goes lane by lane.  `member`: number among the accesses that may fault.  Returns
  /// whether the lanes were entered.
  bool issue_consecutive(WarpSlot slot, const isa::Instruction& instruction,
                         const IssueRecord& record, std::uint32_t active, std::uint16_t member,
                         SmCycle now);
  /// Enters global or local lanes, as part of `flight` or of a new flight.  Returns the flight;
  /// none if no answer is needed.
  std::uint16_t issue_lines(WarpSlot slot, const isa::Instruction& instruction,
                            const IssueRecord& record, std::uint32_t active,
                            const LaneAddresses& address, bool local, std::uint16_t flight,
                            std::uint16_t member, SmCycle now);
  /// Throws a Mistake if a lane's bytes lie in none of the tenant's buffers.
  void require_in_buffers(const Warp& warp, const isa::Instruction& instruction,
                          std::uint32_t active, const LaneAddresses& address,
                          const CopyTarget* copy = nullptr);
  /// Enters lanes of an asynchronous copy.
  void issue_copy(WarpSlot slot, const isa::Instruction& instruction, const IssueRecord& record,
                  std::uint32_t lanes, const LaneAddresses& address, const CopyTarget& target,
                  std::uint16_t member, SmCycle now);
  /// Enters the rest of the warp's next squashed access, and decides the warp's next step.
  void issue_again(std::uint16_t member, SmCycle now);

  /// Returns the cycle in which the unit wants to look up lines.
  SmCycle wake() const { return hot_.wake; }
  /// Looks up lines of the first instructions, as many as a cycle allows.
  void look_up_lines(SmCycle now);
  /// An answer has come that may make room.
  void retry(SmCycle now);
  void retry_if_stalled(SmCycle now) {
    if (hot_.stalled) retry(now);
  }

  /// Returns the logged operands of a squashed access; nullptr: the log has none.
  const Access* logged_operands_of(const FaultableAccess& access) const {
    return access.logged == FaultableAccesses::none ? nullptr : &log_[access.logged];
  }
  void log_operands(FaultableAccess& access, const Access& operands) {
    access.logged = log_.take();
    log_[access.logged].take_global(operands);
  }
  /// Lets the log drop the access's operands.
  void forget_logged(FaultableAccess& access) {
    if (access.logged != FaultableAccesses::none)
      log_.give_back(std::exchange(access.logged, FaultableAccesses::none));
  }

  /// Warps have left or returned with squashed lines.
  void find_fault_waits(SmCycle now) { translation_.find_fault_waits(now); }
  /// Returns whether accesses to this local memory wait here, of warps that may be gone.
  bool queues_access_to(const std::vector<LocalHome>& homes) const;
  /// The tenant has ended: lines that have not left never will.
  void drop_tenant(TenantId tenant, SmCycle now);
  void dropped(const Access& access, SmCycle now) override {
    last_check_passed(access.flight, access.member, now);
  }
  void squashed(const Access& access, unsigned group, SmCycle now) override {
    if (const std::uint16_t copy = bulk_copy_of(access); copy != BulkLines::none) [[unlikely]]
      return flights_.bulk_lines()->line_refused(copy, access, now);
    squash_line(access, group, page_of(access, group), false, now);
  }
  bool come(TlbKey page, SmCycle now) override {
    const bool in_bulk = flights_.bulk_lines() && flights_.bulk_lines()->page_came(page, now);
    return faultable_.come(page, now) || in_bulk;
  }
  std::uint64_t stopped_warps() const override {
    const BulkLines* bulk_lines = flights_.bulk_lines();
    return faultable_.stopped_warps() | (bulk_lines ? bulk_lines->waiting_warps() : 0);
  }
  void violated(const Access& access, unsigned group, SmCycle now) override;

  void warm_hot() const;
  void serialize(Archive& archive);

 private:
  /// Members that every window touches, with the queue's first place.
  struct Hot {
    std::vector<Access> queue;  ///< ring of memory instructions; [head] is the first
    std::uint32_t head = 0, count = 0;
    SmCycle wake = no_cycle;
    SmCycle lookup_cycle{-1};  ///< cycle in which `lookups` tags were looked up
    std::uint32_t lookups = 0;
    bool stalled = false;  ///< the head waits for an answer to make room
    bool stalled_by_translation = false;
    SmCycle stalled_since;
    /// Cycle from which the banks of L1's data are free for the next instruction.
    SmCycle banks_free;
    SmCycle first_lookup;  ///< first lookup of the instruction at the head, if it has begun
    SmCycle tags_free;     ///< banked tags: cycle from which the next instruction can use them
    std::uint32_t tag_cycles = 0;  ///< tag cycles of the instruction at the head, if it has begun
  };
  /// Returns the home of a coalesced local access, whose warp may have left the slot.
  LocalHome home_of(const Access& access) const {
    return constants_.local.home_of(PhysicalAddress(access.group[0].line));
  }
  enum class Progress : std::uint8_t { done, no_room, no_translation };

  /// Returns the place in the ring of the access that stands `behind` accesses after the head.
  std::uint32_t place(std::uint32_t behind) const {
    const std::uint32_t at = hot_.head + behind;
    const auto size = static_cast<std::uint32_t>(hot_.queue.size());
    return at < size ? at : at - size;
  }
  /// Returns the queue's next entry; the caller coalesces it and then enters it.
  Access& begin_access(WarpSlot slot, const isa::Instruction& instruction,
                       const IssueRecord& record, std::uint32_t active, bool local,
                       std::uint16_t member);
  /// Returns whether a buffer contains all sectors of each line; false: the caller must check lane
  /// by lane.
  bool is_in_buffers(const Access& access);
  std::uint16_t enter_access(Access& access, const isa::Instruction& instruction,
                             const IssueRecord& record, std::uint16_t flight, SmCycle now);
  void gather_data(Access& access, const isa::Instruction& instruction);
  /// Enters the access into the queue: its stores count as under way, and its lines are looked up
  /// in turn.
  void enter_queue(Access& access, SmCycle now);
  static TlbKey page_of(const Access& access, unsigned group) {
    return TlbKey::base(
        {TenantId{access.tenant}, lockstep::page_of(VirtualAddress{access.group[group].line})});
  }
  /// Returns the bulk copy that the line belongs to, if any.
  std::uint16_t bulk_copy_of(const Access& access) const {
    const bool may_be =
        access.flight != Flights::none && (access.is_bulk_load() || access.writes());
    return may_be ? flights_[access.flight].bulk : BulkLines::none;
  }
  /// Squashes a line of the access, to be issued again. `come`: the line is issued again as soon as
  /// possible.
  void squash_line(const Access& access, unsigned group, TlbKey page, bool come, SmCycle now);
  /// The access at the head must not pass older squashed lines of its warp on the same page.  If
  /// its next line would, squashes the line and returns true.
  bool squash_behind_older(const Access& access, SmCycle now);
  /// Looks up the next line of the access at the head.
  Progress look_up_line(Access& access, SmCycle now);
  /// Looks up the first parked line whose page has come.  Returns false without room; the caller
  /// tries again later.
  bool look_up_parked_line(SmCycle now);
  bool fetches_texels(const Access& access) const;
  /// Begins to look up the lines of the access at the head.
  void begin_lookups(const Access& access, SmCycle now);
  /// Returns the number of lines of the access at the head that banked tags have compared by the
  /// end of this cycle.
  std::int64_t lines_compared(const Access& access, SmCycle now) const {
    return ((now - hot_.first_lookup + 1) * access.groups + hot_.tag_cycles - 1) / hot_.tag_cycles;
  }
  /// Tags that a line of an access compares.
  std::uint32_t lookups_of(const LineGroup& line) const;
  /// Returns for how many cycles the access has L1's data to itself.
  static std::int64_t bank_cycles(const Access& access);
  /// The access at the head has no line left to look up.
  void leave_queue(const Access& access, SmCycle now);
  /// Notes that every line of an access has its translation and has gone to L1, will not be sent,
  /// or is squashed.
  void last_check_passed(std::uint16_t flight, std::uint16_t member, SmCycle now) {
    if (member != FaultableAccesses::none && !faultable_.left_unit(member, now)) [[unlikely]]
      return;
    if (flight != Flights::none) flights_.answered(flight, SmCycle{}, now);
  }
  /// Stops looking up until an answer has come.
  void stall(bool by_translation, SmCycle now);
  /// `count` lines of the access will not be sent.
  void forget_lines(const Access& access, unsigned count);

  const SmConstants& constants_;
  SmStatistics& statistics_;
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  MemoryGate& gate_;
  FaultableAccesses& faultable_;
  Translation& translation_;
  LineAccess& lines_;
  Flights& flights_;
  Hot hot_;
  SlotPool<Access> log_;  ///< operands of squashed accesses, if they are logged
};

}  // namespace lockstep
