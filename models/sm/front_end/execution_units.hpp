/// Free execution units: masks of the warp slots that could use a unit of a class now.
///
/// With as many units as schedulers each scheduler has its own (sub-cores); otherwise all share. A
/// busy unit comes back through the event wheel: a byte per class, holding a bit per scheduler (own
/// units) or a count (shared ones), and a byte for the schedulers' own issue slot.  Classes that
/// found no place there come back by events of their own.  Source: gpu-parameters.md, section 3
/// "Sub-core model".
#pragma once

#include <array>
#include <cstdint>

#include "models/sm/front_end/event_wheel.hpp"
#include "models/sm/parameters/sm_parameters.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

class ExecutionUnits {
 public:
  ExecutionUnits() = default;
  explicit ExecutionUnits(const SmParameters& parameters)
      : schedulers_(parameters.schedulers), all_schedulers_((1u << parameters.schedulers) - 1) {
    for (unsigned warp = 0; warp < 64; warp += schedulers_)
      warps_of_first_ |= std::uint64_t{1} << warp;
    const SmUnitParameters& u = parameters.units;
    const std::array<std::uint32_t, unit_classes> counts = u.counts.values;
    for (std::size_t c = 0; c < unit_classes; ++c) {
      own_[c] = parameters.sub_cores && counts[c] == schedulers_;
      available_[c] = static_cast<std::uint8_t>(counts[c]);
      free_[c] = counts[c] > 0 ? ~std::uint64_t{0} : 0;
    }
    wide_ = parameters.issue_width > 1;
    for (std::size_t c = 0; c < unit_classes; ++c) shared_ |= !own_[c] && counts[c] > 0;
  }

  unsigned schedulers() const { return schedulers_; }
  unsigned scheduler_of(unsigned warp) const { return warp & (schedulers_ - 1); }
  /// Returns whether schedulers issue more than one instruction a cycle.
  bool wide() const { return wide_; }
  /// Returns whether schedulers compete for some units.
  bool shared() const { return shared_; }

  std::uint64_t free(std::size_t unit) const { return free_[unit]; }
  std::uint64_t schedulers_free() const { return schedulers_free_; }
  /// Warps of a set of schedulers, and schedulers of a set of warps; warp w belongs to scheduler w
  /// modulo their number, a power of two up to 8.
  std::uint64_t warps_of(unsigned schedulers) const { return schedulers * warps_of_first_; }
  [[gnu::always_inline]] unsigned schedulers_of(std::uint64_t warps) const {
    warps |= warps >> 32;
    warps |= warps >> 16;
    warps |= warps >> 8;
    if (schedulers_ < 8) {
      warps |= warps >> 4;
      if (schedulers_ < 4) {
        warps |= warps >> 2;
        if (schedulers_ < 2) warps |= warps >> 1;
      }
    }
    return static_cast<unsigned>(warps) & all_schedulers_;
  }
  unsigned all_schedulers() const { return all_schedulers_; }

  /// Occupies a unit of this class with an instruction of the scheduler at `cycle`.
  void occupy(unsigned unit, unsigned scheduler, SmCycle cycle, unsigned interval,
              EventWheel& wheel) {
    if (own_[unit]) [[likely]] {
      if (interval == 1 && !wide_) return;  // the scheduler itself issues once a cycle
      free_[unit] &= ~warps_of(1u << scheduler);
      free_at(cycle + interval, unit, static_cast<std::uint8_t>(1u << scheduler), wheel);
    } else {
      if (--available_[unit] == 0) free_[unit] = 0;
      free_at(cycle + interval, unit, 1, wheel);
    }
  }
  void occupy_scheduler(unsigned scheduler, SmCycle cycle, unsigned slots, EventWheel& wheel) {
    schedulers_free_ &= ~warps_of(1u << scheduler);
    wheel.add_units(cycle + slots, schedulers_place, static_cast<std::uint8_t>(1u << scheduler));
  }
  void release(const FreedUnits& freed) {
    freed.for_each([this](unsigned place, std::uint8_t byte) {
      if (place == schedulers_place) {
        schedulers_free_ |= warps_of(byte);
      } else {
        release(place, byte);
      }
    });
  }
  /// Units of one class become free.
  void release(unsigned unit, std::uint8_t byte) {
    if (!own_[unit]) {
      available_[unit] = static_cast<std::uint8_t>(available_[unit] + byte);
      free_[unit] = ~std::uint64_t{0};
    } else {
      free_[unit] |= warps_of(byte);
    }
  }

  template <class A>
  void serialize(A& archive) {
    archive(free_, available_, schedulers_free_);
  }

 private:
  /// Classes up to the schedulers' place have a byte of the wheel; the rarely used classes have
  /// events.
  static constexpr unsigned schedulers_place = FreedUnits::places - 1;

  void free_at(SmCycle cycle, unsigned unit, std::uint8_t byte, EventWheel& wheel) const {
    if (unit < schedulers_place) [[likely]] {
      wheel.add_units(cycle, unit, byte);
    } else {
      for (std::uint8_t left = byte; left != 0; left &= left - 1)
        wheel.add(cycle,
                  WarpEvent::with_warp(static_cast<std::uint16_t>(WarpEvent::unit_free + unit),
                                       static_cast<unsigned>(std::countr_zero(left))));
    }
  }

  std::array<std::uint64_t, unit_classes> free_{};
  std::uint64_t schedulers_free_ = ~std::uint64_t{0};
  std::array<std::uint8_t, unit_classes> available_{};
  std::array<bool, unit_classes> own_{};
  std::uint64_t warps_of_first_ = 0;
  std::uint32_t schedulers_ = 1, all_schedulers_ = 1;
  bool wide_ = false, shared_ = false;
};

}  // namespace lockstep
