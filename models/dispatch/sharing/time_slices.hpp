#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

/// Turns of tenants: see time_sliced.cpp.
class TimeSlices {
 public:
  /// `slice`: length of a slice; never: no tenant ever has a turn.
  explicit TimeSlices(Time slice) : slice_(slice) {}

  bool any() const { return slice_ != Time::never(); }
  /// Returns when the slice is over; never: it has not begun.
  Time next() const { return end_; }
  bool has_turn(TenantId tenant) const { return turn_ == tenant; }
  /// The next tenant with a kernel may have its turn now.
  void update(std::span<const GridView> grids, Time now) {
    if (slice_ == Time::never()) return;
    const bool idle = std::none_of(grids.begin(), grids.end(), [&](const GridView& grid) {
      return grid.ready && turn_ == grid.tenant;
    });
    if (now < end_ && !idle) return;
    turn_ = after_turn(grids);
    end_ = Time::never();
  }
  /// Returns whether a slice should begin: no SM makes room any more, and no block is on its way
  /// back.
  bool is_due() const { return turn_ && end_ == Time::never(); }
  void begin(Time now) { end_ = now + slice_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(turn_, end_);
  }

 private:
  std::optional<TenantId> after_turn(std::span<const GridView> grids) const {
    const std::uint32_t begin = turn_ ? turn_->value() + 1u : 0u;
    std::optional<TenantId> next;
    const auto distance = [&](TenantId tenant) {
      return (tenant.value() + 0x10000u - begin) % 0x10000u;
    };
    for (const GridView& grid : grids)
      if (grid.ready && (!next || distance(grid.tenant) < distance(*next))) next = grid.tenant;
    return next;
  }

  const Time slice_;
  std::optional<TenantId> turn_;
  Time end_ = Time::never();
};

}  // namespace lockstep
