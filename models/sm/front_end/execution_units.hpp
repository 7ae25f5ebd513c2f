/// Free execution units: which warps could use a unit of a class now.
///
/// With as many units as schedulers each scheduler has its own (sub-cores); otherwise all share. A
/// ring over the next 16 cycles tells in which of them the schedulers' own units are busy: nothing
/// has to be done when they become free. Shared units, which are counted, and units that are busy
/// for longer come back through the event wheel: a byte per class, and a byte for the schedulers'
/// own issue slot. Classes that found no place there come back by events of their own.
/// Source: gpu-parameters.md, section 3 "Sub-core model".
#pragma once

#include <smmintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
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
      ring_reach_[c] = own_[c] && parameters.issue_width == 1 ? ring : 0;
      available_[c] = static_cast<std::uint8_t>(counts[c]);
      if (counts[c] == 0) closed_ |= byte_of(c, all_warps);
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

  /// Returns the warps that could use a unit at `cycle`. `ready`: the warps that want one of each
  /// class.
  [[gnu::always_inline]] std::uint64_t could_use(
      const std::array<std::uint64_t, unit_classes>& ready, SmCycle cycle) const {
    const __m128i busy =
        _mm_cvtsi64_si128(static_cast<std::int64_t>(busy_[place_of(cycle)] | closed_));
    __m128i warps = _mm_setzero_si128();
    for (unsigned unit = 0; unit < unit_classes; unit += 2)
      warps = _mm_or_si128(warps, _mm_andnot_si128(busy_warps(busy, unit), both_of(&ready[unit])));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(warps) | _mm_extract_epi64(warps, 1));
  }
  /// Returns the first cycle behind `now` in which one of these warps could use a unit that is busy
  /// by the ring; no_cycle: there is none. The wheel has an event for each other unit.
  SmCycle next_use(const std::array<std::uint64_t, unit_classes>& ready, SmCycle now) const {
    for (unsigned i = 1; i < ring; ++i)
      if ((could_use(ready, now + i) & schedulers_free_) != 0) return now + i;
    return no_cycle;
  }
  std::uint64_t schedulers_free() const { return schedulers_free_; }
  /// Warps of a set of schedulers, and schedulers of a set of warps; warp w belongs to scheduler w
  /// modulo their number, a power of two up to 8.
  std::uint64_t warps_of(unsigned schedulers) const { return schedulers * warps_of_first_; }
  std::uint64_t warps_of_scheduler(unsigned scheduler) const {
    return warps_of_first_ << scheduler;
  }
  [[gnu::always_inline]] unsigned schedulers_of(std::uint64_t warps) const {
    warps |= warps >> 32;
    warps |= warps >> 16;
    warps |= warps >> 8;
    if (schedulers_ == 4) [[likely]] {
      warps |= warps >> 4;
    } else if (schedulers_ < 8) {
      warps |= warps >> 4;
      if (schedulers_ < 4) {
        warps |= warps >> 2;
        if (schedulers_ < 2) warps |= warps >> 1;
      }
    }
    return static_cast<unsigned>(warps) & all_schedulers_;
  }
  unsigned all_schedulers() const { return all_schedulers_; }

  /// Begins a cycle; `last`: the one that was begun before it.
  void begin_cycle(SmCycle last, SmCycle now) {
    busy_[place_of(last)] = 0;
    if (now - last > 1) {
      const std::int64_t passed = std::min<std::int64_t>(now - last, ring);
      for (std::int64_t i = 1; i < passed; ++i) busy_[place_of(last + i)] = 0;
    }
  }
  /// Occupies a unit of this class with an instruction of the scheduler at `cycle`.
  [[gnu::always_inline]] void occupy(unsigned unit, unsigned scheduler, SmCycle cycle,
                                     unsigned interval, EventWheel& wheel) {
    if (interval < ring_reach_[unit]) [[likely]] {
      if (interval == 1) return;  // the scheduler itself issues once a cycle
      const std::uint64_t byte = byte_of(unit, warps_of_scheduler(scheduler));
      busy_[place_of(cycle + 1)] |= byte;
      for (unsigned i = 2; i < interval; ++i) busy_[place_of(cycle + i)] |= byte;
    } else {
      occupy_otherwise(unit, scheduler, cycle, interval, wheel);
    }
  }
  void occupy_scheduler(unsigned scheduler, SmCycle cycle, unsigned slots, EventWheel& wheel) {
    schedulers_free_ &= ~warps_of_scheduler(scheduler);
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
      closed_ &= ~byte_of(unit, all_warps);
    } else {
      closed_ &= ~byte_of(unit, warps_of(byte));
    }
  }

  template <class A>
  void serialize(A& archive) {
    archive(closed_, busy_, available_, schedulers_free_);
  }

 private:
  /// Classes up to the schedulers' place have a byte of the wheel; the rarely used classes have
  /// events.
  static constexpr unsigned schedulers_place = FreedUnits::places - 1;
  static constexpr unsigned ring = 16;
  static constexpr std::uint64_t all_warps = ~std::uint64_t{0};
  static_assert(unit_classes == 8, "each class has a byte of a cycle");

  static constexpr std::size_t place_of(SmCycle cycle) {
    return static_cast<std::size_t>(cycle.value()) % ring;
  }
  /// Returns the warps whose unit of this class is busy, and those of the next class, from the
  /// bytes of a cycle: the schedulers of 64 warps are those of eight warps eight times.
  static __m128i busy_warps(__m128i busy, unsigned unit) {
    const std::int64_t eight_times = 0x0101010101010101;
    return _mm_shuffle_epi8(busy, _mm_set_epi64x(eight_times * (unit + 1), eight_times * unit));
  }
  /// Returns two words, each by a load of its own: they were often written just before, one at a
  /// time, and this computer would make a load of both wait until the writes are done.
  static __m128i both_of(const std::uint64_t* words) {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(words));
    const auto second = reinterpret_cast<const double*>(words + 1);
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(first), second));
  }
  /// Returns the class's byte of a cycle for these warps, which repeat after eight.
  static constexpr std::uint64_t byte_of(std::size_t unit, std::uint64_t warps) {
    return (warps & 0xff) << (8 * unit);
  }
  [[gnu::noinline]] void occupy_otherwise(unsigned unit, unsigned scheduler, SmCycle cycle,
                                          unsigned interval, EventWheel& wheel) {
    if (!own_[unit]) {
      if (--available_[unit] == 0) closed_ |= byte_of(unit, all_warps);
      free_at(cycle + interval, unit, 1, wheel);
    } else if (interval < ring) {
      for (unsigned i = 0; i < interval; ++i)
        busy_[place_of(cycle + i)] |= byte_of(unit, warps_of_scheduler(scheduler));
    } else {
      closed_ |= byte_of(unit, warps_of_scheduler(scheduler));
      free_at(cycle + interval, unit, static_cast<std::uint8_t>(1u << scheduler), wheel);
    }
  }

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

  /// Schedulers whose own units are busy, by cycle: a byte for each class, with a bit for each of
  /// eight warps.
  std::array<std::uint64_t, ring> busy_{};
  /// Schedulers that lack a unit until the wheel brings one back, and all schedulers for classes
  /// that the SM lacks: bytes as in busy_.
  std::uint64_t closed_ = 0;
  std::uint64_t schedulers_free_ = ~std::uint64_t{0};
  std::array<std::uint8_t, unit_classes> available_{};
  std::array<bool, unit_classes> own_{};
  /// Intervals below are noted in the ring without a look at anything else.
  std::array<std::uint8_t, unit_classes> ring_reach_{};
  std::uint64_t warps_of_first_ = 0;
  std::uint32_t schedulers_ = 1, all_schedulers_ = 1;
  bool wide_ = false, shared_ = false;
};

}  // namespace lockstep
