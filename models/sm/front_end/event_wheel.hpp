/// Event wheel: events at known cycles, such as results that commit and units that become free.
///
/// The wheel has a ring of 64 cycles with lists of 16-bit events, a ring of 16 cycles for units,
/// and a heap for events that lie farther away or do not fit.  The events of all lists share one
/// small pool.  A new event takes the place that became free last, so that few places of the pool
/// are in use and this computer's caches hold them.
/// Source: hot-path.md, "Layouts that worked".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/sm/tables/warp_event.hpp"

namespace lockstep {

/// Units that become free in one cycle: a byte for each of eight places.  ExecutionUnits gives the
/// places and bytes their meaning.
class FreedUnits {
 public:
  static constexpr unsigned places = 8;

  void add(unsigned place, std::uint8_t value) { bytes_ += std::uint64_t{value} << (place * 8); }
  bool empty() const { return bytes_ == 0; }
  /// Calls the function with each place whose byte is not zero, and with the byte.
  void for_each(auto&& function) const {
    for (std::uint64_t left = bytes_; left != 0;) {
      const unsigned place = static_cast<unsigned>(std::countr_zero(left)) / 8;
      function(place, static_cast<std::uint8_t>(left >> (place * 8)));
      left &= ~(std::uint64_t{0xff} << (place * 8));
    }
  }

  void serialize(Archive& archive) { archive(bytes_); }

 private:
  std::uint64_t bytes_ = 0;
};

class EventWheel {
 public:
  EventWheel() {
    last_.fill(none);
    for (std::uint8_t i = 0; i < nodes_.size(); ++i)
      nodes_[i].next = i + 1u < nodes_.size() ? i + 1u : none;
  }

  /// Returns the next cycle with something to do; no_cycle when there is none.
  SmCycle next() const {
    SmCycle result = far_.empty() ? no_cycle : far_.front().cycle;
    const std::uint64_t turned = std::rotr(occupied_, static_cast<int>((now_ + 1).value() & 63));
    if (turned != 0) result = std::min(result, now_ + 1 + std::countr_zero(turned));
    return result;
  }

  /// Advances time to `cycle`, so that later additions are in the near future.  Precondition:
  /// nothing happens before `cycle`.
  void advance_to(SmCycle cycle) { now_ = std::max(now_, cycle); }

  [[gnu::always_inline]] void add(SmCycle cycle, std::uint16_t event) {
    if (cycle - now_ < 64 && free_ != none) [[likely]] {
      append(last_[cycle.value() & 63], event);
      occupied_ |= std::uint64_t{1} << (cycle.value() & 63);
    } else {
      add_far(cycle, {}, event);
    }
  }
  /// Frees units.
  void add_units(SmCycle cycle, unsigned place, std::uint8_t value) {
    if (cycle - now_ < std::int64_t{unit_cycles}) [[likely]] {
      units_at(cycle).add(place, value);
      occupied_ |= std::uint64_t{1} << (cycle.value() & 63);
    } else {
      FreedUnits units;
      units.add(place, value);
      add_far(cycle, units, 0);
    }
  }

  /// Hands everything at `cycle` to on_event(code) and on_units(freed).  Neither adds at `cycle`.
  template <class OnEvent, class OnUnits>
  void take(SmCycle cycle, OnEvent&& on_event, OnUnits&& on_units) {
    now_ = cycle;
    const std::uint64_t bit = std::uint64_t{1} << (cycle.value() & 63);
    if (occupied_ & bit) {
      occupied_ &= ~bit;
      // Units of this cycle; no later entry can be among them yet.
      FreedUnits& units = units_at(cycle);
      if (!units.empty()) {
        on_units(units);
        units = {};
      }
      if (const std::uint8_t last = std::exchange(last_[cycle.value() & 63], none); last != none) {
        std::uint8_t at = last;
        do {
          at = nodes_[at].next;
          on_event(nodes_[at].event);
        } while (at != last);
        nodes_[last].next = std::exchange(free_, nodes_[last].next);
      }
    }
    while (!far_.empty() && far_.front().cycle <= cycle) [[unlikely]] {
        const Far event = pop_far();
        if (!event.units.empty()) {
          on_units(event.units);
        } else {
          on_event(event.event);
        }
      }
  }

  /// Returns the start of the rarely used members; they go on to the end of the object.
  const void* seldom_used() const { return &nodes_[near_nodes]; }

  void serialize(Archive& archive) {
    archive(nodes_, last_, free_, units_, occupied_, now_, order_, far_);
  }

 private:
  static constexpr std::size_t unit_cycles = 16;  ///< cycles that suffice for nearly all units
  static constexpr std::uint8_t none = 0xff;
  struct Node {
    std::uint16_t event = 0;
    std::uint8_t next = none;  ///< next node of the list; for the last node, the first one

    template <class A>
    void serialize(A& archive) {
      archive(event, next);
    }
  };
  struct Far {
    SmCycle cycle;
    FreedUnits units;
    std::uint64_t order = 0;
    std::uint16_t event = 0;
    // Std heaps keep the largest in front, so the order is reversed.
    bool operator<(const Far& other) const {
      return cycle != other.cycle ? cycle > other.cycle : order > other.order;
    }
    template <class A>
    void serialize(A& archive) {
      archive(cycle, units, order, event);
    }
  };
  FreedUnits& units_at(SmCycle cycle) {
    return units_[static_cast<std::size_t>(cycle.value()) % unit_cycles];
  }
  /// Appends the event to a list, given by its last one; there must be a free place.
  void append(std::uint8_t& last, std::uint16_t event) {
    const std::uint8_t place = std::exchange(free_, nodes_[free_].next);
    Node& before = nodes_[last == none ? place : last];
    nodes_[place] = {event, last == none ? place : before.next};
    before.next = place;
    last = place;
  }
  // The function is rarely called and not inlined, so that its callers stay short.
  [[gnu::noinline, gnu::cold]] void add_far(SmCycle cycle, const FreedUnits& units,
                                            std::uint16_t event) {
    far_.push_back({cycle, units, order_++, event});
    std::push_heap(far_.begin(), far_.end());
  }
  [[gnu::noinline, gnu::cold]] Far pop_far() {
    const Far event = far_.front();
    std::pop_heap(far_.begin(), far_.end());
    far_.pop_back();
    return event;
  }

  std::uint64_t occupied_ = 0;
  SmCycle now_{-1};
  std::vector<Far> far_;
  std::uint64_t order_ = 0;
  std::uint8_t free_ = 0;
  std::array<std::uint8_t, 64> last_;  ///< last node of each cycle's list
  std::array<FreedUnits, unit_cycles> units_{};
  static constexpr std::size_t near_nodes = 32;
  std::array<Node, 96> nodes_;
};

}  // namespace lockstep
