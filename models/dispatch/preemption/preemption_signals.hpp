#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/time/time.hpp"

namespace lockstep {

/// The stimulus of 002, section V: at every multiple of an interval one SM, the next in turn that
/// has all its blocks, makes room as for a more urgent grid, and takes its blocks back at once.
/// Source: preemption.md, section 9.
class PreemptionSignals {
 public:
  /// `interval`: zero: there are none.
  PreemptionSignals(Time interval, std::size_t sms)
      : interval_(interval), sms_(static_cast<std::uint32_t>(sms)) {
    if (interval_ > Time::zero()) next_ = interval_;
  }

  Time next() const { return next_; }
  /// The SM that gets one now, of those with `has_blocks(sm)`.  What was due while there was
  /// nothing to do is past.
  std::optional<std::uint32_t> take(Time now,
                                    const std::function<bool(std::uint32_t)>& has_blocks) {
    if (next_ > now) return std::nullopt;
    const bool is_due = next_ + interval_ > now;
    next_ = interval_ * (now.femtoseconds() / interval_.femtoseconds() + 1);
    for (std::uint32_t i = 0; i < sms_ && is_due; ++i) {
      const std::uint32_t sm = (turn_ + i) % sms_;
      if (!has_blocks(sm)) continue;
      turn_ = (sm + 1) % sms_;
      return sm;
    }
    return std::nullopt;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next_, turn_);
  }

 private:
  const Time interval_;
  const std::uint32_t sms_;
  Time next_ = Time::never();
  std::uint32_t turn_ = 0;
};

}  // namespace lockstep
