#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/time/time.hpp"

namespace lockstep {

/// Preemption signals of 002, section V: at every multiple of an interval one SM makes room as for
/// a more urgent grid, and takes its blocks back at once.  The SM is the next in turn that has all
/// its blocks.
///
/// Blocks make progress even with short intervals: while no block of an SM ends, the pause after
/// each of its signals doubles.
/// Source: preemption.md, section 9.
class PreemptionSignals {
 public:
  /// `interval`: zero: there are none.
  PreemptionSignals(Time interval, std::size_t sms) : interval_(interval), sms_(sms) {
    if (interval_ > Time::zero()) next_ = interval_;
  }

  Time next() const { return next_; }
  /// Returns the SM that gets a signal now, among those with `has_blocks(sm)`. Signals that fell
  /// due while no SM had blocks are skipped.
  std::optional<std::uint32_t> take(Time now,
                                    const std::function<bool(std::uint32_t)>& has_blocks) {
    if (next_ > now) return std::nullopt;
    const bool is_due = next_ + interval_ > now;
    next_ = interval_ * (now.femtoseconds() / interval_.femtoseconds() + 1);
    const auto count = static_cast<std::uint32_t>(sms_.size());
    for (std::uint32_t i = 0; i < count && is_due; ++i) {
      const std::uint32_t index = (turn_ + i) % count;
      Sm& sm = sms_[index];
      if (now < sm.next || !has_blocks(index)) continue;
      turn_ = (index + 1) % count;
      sm.next = now + sm.patience;
      sm.patience = std::max(interval_, sm.patience * 2);
      return index;
    }
    return std::nullopt;
  }
  /// A block of the SM has ended.
  void block_ended(std::uint32_t sm) { sms_[sm] = {}; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(next_, turn_, sms_);
  }

 private:
  struct Sm {
    Time next, patience;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(next, patience);
    }
  };

  const Time interval_;
  std::vector<Sm> sms_;
  Time next_ = Time::never();
  std::uint32_t turn_ = 0;
};

}  // namespace lockstep
