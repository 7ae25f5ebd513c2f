#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/time/time.hpp"

namespace lockstep {

/// SMs that went back to their grid because blocks that drained there may have waited for flushed
/// ones, which do not return while the urgent grid waits for the draining ones.
///
/// Such an SM is left alone for a while, each time for twice as long until a block of it ends.
/// Then the returned blocks get beyond what can be flushed, and the blocks that wait for them get
/// on.
/// Source: preemption.md, errata of section 2.2 (a drained block may spin on a flushed one).
class BackOff {
 public:
  explicit BackOff(std::size_t sms) : sms_(sms) {}

  void begin(std::uint32_t index, Time now, Time at_least) {
    Sm& sm = sms_[index];
    sm.patience = std::max(at_least, sm.patience * 2);
    sm.until = now + sm.patience;
  }
  bool is_left_alone(std::uint32_t sm) const { return sms_[sm].until != Time::never(); }
  void end_past(Time now) {
    for (Sm& sm : sms_)
      if (sm.until <= now) sm.until = Time::never();
  }
  void block_ended(std::uint32_t sm) { sms_[sm].patience = Time::zero(); }
  /// Returns when the next SM is no longer left alone.
  Time next() const {
    Time next = Time::never();
    for (const Sm& sm : sms_) next = std::min(next, sm.until);
    return next;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sms_);
  }

 private:
  struct Sm {
    Time until = Time::never(), patience = Time::zero();
    template <class Archive>
    void serialize(Archive& archive) {
      archive(until, patience);
    }
  };
  std::vector<Sm> sms_;
};

}  // namespace lockstep
