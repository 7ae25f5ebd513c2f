#pragma once

#include <algorithm>
#include <cstdint>

#include "core/checkpoint/archive.hpp"
#include "models/sm/front_end/event_wheel.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// Gate for memory instructions: an instruction can issue if few enough are in the load-store
/// unit's queue and before the banks of shared memory.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint32_t limit) : limit_(limit) {}

  /// Returns a mask over all warps: all ones, or none.
  std::uint64_t open() const { return open_; }
  /// Returns the cycle in which few enough accesses wait for the banks again.
  SmCycle wake() const { return wake_; }

  /// An instruction has entered the load-store unit's queue, or left it.
  void entered() {
    if (++queued_ >= limit_) open_ = 0;
  }
  void left(SmCycle now) {
    if (--queued_ < limit_) update(now);
  }
  /// Occupies the banks for `cycles` further cycles; returns the cycle from which they are free.
  SmCycle serve_banks(unsigned cycles, SmCycle now) {
    banks_free_ = std::max(banks_free_, now) + cycles;
    if (banks_free_ - now >= limit_) {
      open_ = 0;
      wake_ = banks_free_ - limit_ + 1;
    }
    return banks_free_;
  }
  void update(SmCycle now) {
    open_ = ((queued_ < limit_) & (banks_free_ - now < limit_)) ? ~std::uint64_t{0} : 0;
    wake_ = wake_ <= now ? no_cycle : wake_;
  }

  template <class A>
  void serialize(A& archive) {
    archive(open_, banks_free_, wake_, queued_);
  }

 private:
  std::uint64_t open_ = ~std::uint64_t{0};
  SmCycle banks_free_;
  SmCycle wake_ = no_cycle;
  std::int64_t limit_;
  std::int64_t queued_ = 0;
};

}  // namespace lockstep
