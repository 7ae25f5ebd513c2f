/// Loads and atomics between issue and commit.
///
/// A flight counts the events that its warp instruction waits for: answers to its requests, and the
/// last translation check of its lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/slot_pool.hpp"
#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/l1/l1.hpp"
#include "models/sm/load_store/bulk_lines.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

/// A load or atomic of a warp until all its answers are there.
struct Flight {
  SmCycle ready;  ///< cycle in which the youngest data can be used
  std::uint32_t pc = 0;
  std::uint16_t outstanding = 0;  ///< number of answers that the flight waits for
  std::uint8_t warp = 0;
  std::uint8_t acquires = 0;
  std::uint16_t copy_group = no_copy;    ///< group of an asynchronous copy
  std::uint16_t bulk = BulkLines::none;  ///< bulk copy of the flight

  static constexpr std::uint16_t no_copy = 0xffff;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(ready, pc, outstanding, warp, acquires, copy_group, bulk);
  }
};

class Flights {
 public:
  static constexpr std::uint16_t none = SlotPool<Flight>::none;

  Flights(const SmContext& sm, FrontEnd& front_end, L1& l1, FaultableAccesses& faultable)
      : blocks_(sm.blocks),
        front_end_(front_end),
        l1_(l1),
        faultable_(faultable),
        under_way_(sm.blocks.under_way()),
        follows_commits_(faultable.hears_commits()) {}

  /// Begins a flight of the warp's instruction at `pc`, whose results become pending. The flight
  /// starts with a count of one. Returns its index.
  std::uint16_t begin(WarpSlot slot, std::uint32_t pc, const IssueRecord& record) {
    Warp& warp = blocks_.warp(slot);
    const std::uint16_t index = flights_.take();
    Flight& flight = flights_[index];
    flight.ready = SmCycle{};
    flight.pc = pc;
    flight.warp = static_cast<std::uint8_t>(slot.value());
    flight.acquires = (record.flags & IssueRecord::ordered_after) != 0;
    flight.outstanding = 1;
    flight.copy_group = Flight::no_copy;
    flight.bulk = BulkLines::none;
    under_way_.flight_begins(slot);
    for (unsigned i = 0; i < record.releases; ++i) {
      warp.pending.mark(record.release[i]);
      warp.loads.mark(record.release[i]);
    }
    return index;
  }
  /// Begins an asynchronous copy; `returns`: the copy's block has been away and returns.
  std::uint16_t begin_copy(WarpSlot slot, std::uint32_t pc, const IssueRecord& record,
                           bool returns = false) {
    const std::uint16_t index = begin(slot, pc, record);
    flights_[index].copy_group =
        returns ? under_way_.copies().begin_again(slot) : under_way_.copies().begin(slot);
    return index;
  }
  /// Begins a bulk copy, whose answers go to `bulk_lines`.
  std::uint16_t begin_bulk(WarpSlot slot, std::uint32_t pc, const IssueRecord& record,
                           std::uint16_t copy) {
    const std::uint16_t index = begin(slot, pc, record);
    flights_[index].bulk = copy;
    return index;
  }
  /// Counts a store of the flight that leaves.  Returns the bulk copy that the store belongs to, if
  /// any.
  std::uint16_t send_line_of_bulk(std::uint16_t index) {
    const std::uint16_t copy = flights_[index].bulk;
    if (copy != BulkLines::none) bulk_lines_->line_sent(copy);
    return copy;
  }
  /// Returns the bulk copy that a flight is, if it is one.
  std::uint16_t bulk_of(std::uint16_t index) const {
    return index != none ? flights_[index].bulk : BulkLines::none;
  }
  BulkLines* bulk_lines() const { return bulk_lines_; }
  /// Returns where bytes of a copy go, if not to shared memory.
  std::byte* room_of(const Flight& flight) const {
    return flight.bulk != BulkLines::none ? bulk_lines_->room(flight.bulk) : nullptr;
  }
  void tell_of_bulk_copies(BulkLines& bulk_lines) { bulk_lines_ = &bulk_lines; }
  /// The flight waits for one answer more.
  void expect(std::uint16_t index) { ++flights_[index].outstanding; }
  /// Notes that some of the flight's data can be used from `cycle` on.
  void ready_at(std::uint16_t index, SmCycle cycle) {
    Flight& flight = flights_[index];
    flight.ready = std::max(flight.ready, cycle);
  }
  /// An answer that the flight waits for has come, and can be used from `usable` on.
  void answered(std::uint16_t index, SmCycle usable, SmCycle now) {
    Flight& flight = flights_[index];
    flight.ready = std::max(flight.ready, usable);
    if (--flight.outstanding == 0) commit(index, now);
  }
  /// Takes out the flight of a warp that leaves its slot; the instruction waits for its last check
  /// only.
  void take_out(std::uint16_t index) {
    const Flight& flight = flights_[index];
    if (flight.copy_group != Flight::no_copy)
      under_way_.copies().end(WarpSlot(flight.warp), flight.copy_group, SmCycle{});
    under_way_.flight_ends(WarpSlot(flight.warp));
    flights_.give_back(index);
  }
  const Flight& operator[](std::uint16_t index) const { return flights_[index]; }

  void warm_hot() const {
    warm(&flights_, sizeof flights_);
    flights_.warm_next(3);
  }
  void serialize(Archive& archive) {
    archive.section("sm/flights", 4);
    archive(flights_);
  }

 private:
  /// Commits a memory instruction with results, once all answers and checks have come.
  void commit(std::uint16_t index, SmCycle now) {
    // A reference, not a copy: this computer would wait for the narrow store of `outstanding`.
    const Flight& flight = flights_[index];
    flights_.give_back(index);
    const WarpSlot slot(flight.warp);
    const Warp& warp = blocks_.warp(slot);
    const IssueRecord& record = warp.records[flight.pc];
    const SmCycle when = std::max(flight.ready, now + 1);
    for (unsigned i = 0; i < record.releases; ++i)
      front_end_.tell_at(slot, record.release[i], when);
    const bool was_last = under_way_.flight_ends(slot);
    if (follows_commits_) [[unlikely]]
      faultable_.commits_before(when, slot, index);
    if (flight.copy_group != Flight::no_copy) [[unlikely]]
      end_copy(slot, flight.copy_group, when);
    if (flight.bulk != BulkLines::none) [[unlikely]]
      bulk_lines_->all_lines_done(flight.bulk, when, now);
    if (flight.acquires) {
      l1_.drop_clean();
      front_end_.resumed_at(slot, when);
    }
    if (was_last) front_end_.request_answered(slot, now);
  }

  /// Lets the warp check its waits, and what it owes, when the copy's bytes can be used.
  void end_copy(WarpSlot slot, std::uint16_t group, SmCycle when) {
    under_way_.copies().end(slot, group, when);
    if ((front_end_.waiting(StallCause::async_copy) & bit_of(slot)) != 0 || front_end_.owes(slot))
      front_end_.tell_at(slot, WarpEvent::copies_came, when);
  }

  ResidentBlocks& blocks_;
  FrontEnd& front_end_;
  L1& l1_;
  FaultableAccesses& faultable_;
  UnderWay& under_way_;
  BulkLines* bulk_lines_ = nullptr;
  const bool follows_commits_;
  SlotPool<Flight> flights_;
};

}  // namespace lockstep
