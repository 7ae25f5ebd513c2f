/// How often a source asks, by the requests of the last period: few requests go past the batches,
/// and batches of a source that asks often may wait for longer.
/// Source: 004, section 5.3.2; memory-interference.md, section 4.3.1 (AMB-13: the period, and that
/// sources begin as those that ask often, are ours).
#pragma once

#include <cstdint>

#include "models/memory/dram/dram_cycle.hpp"

namespace lockstep {

enum class Intensity : std::uint8_t { low, medium, high };

class MemoryIntensity {
 public:
  static constexpr std::int64_t period = 10'000;  ///< period in DRAM cycles

  /// A source is light if it sends fewer than `few` requests in a thousand cycles, and heavy if it
  /// sends more than `many`.
  explicit MemoryIntensity(double few = 1, double many = 10)
      : few_(few * period / 1000), many_(many * period / 1000) {}

  /// Counts a request; returns its source's intensity.
  Intensity arrived(DramCycle now) {
    const std::int64_t number = now.value() / period;
    if (number != period_) {
      const std::uint32_t before = number == period_ + 1 ? count_ : 0;
      class_ = before < few_     ? Intensity::low
               : before <= many_ ? Intensity::medium
                                 : Intensity::high;
      period_ = number;
      count_ = 0;
    }
    ++count_;
    return class_;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(period_, count_, class_);
  }

 private:
  double few_, many_;  ///< thresholds in requests per period
  std::int64_t period_ = 0;
  std::uint32_t count_ = 0;
  Intensity class_ = Intensity::high;
};

}  // namespace lockstep
