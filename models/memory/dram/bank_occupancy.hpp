#pragma once

#include <cstdint>
#include <vector>

#include "core/statistics/counters.hpp"

namespace lockstep {

/// How many DRAM banks work for a sender or a tenant, over time.
/// Source: memory-interference.md, section 1.4 (BLP).
class BankOccupancy {
 public:
  /// Cycles in which any request was unanswered, and these cycles summed over the banks with such
  /// requests: over the first, the second is the bank parallelism.
  struct Counters {
    Counter &outstanding, &banks;
  };

  explicit BankOccupancy(std::uint32_t banks = 0) : requests_(banks) {}

  /// Notes that a request was sent to a bank, or answered; cycles never decrease.
  void sent(std::uint32_t bank, std::int64_t cycle, Counters counters) {
    count(cycle, counters);
    busy_ += requests_[bank]++ == 0;
  }
  void answered(std::uint32_t bank, std::int64_t cycle, Counters counters) {
    count(cycle, counters);
    busy_ -= --requests_[bank] == 0;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(requests_, busy_, counted_);
  }

 private:
  void count(std::int64_t cycle, Counters counters) {
    const auto cycles = static_cast<std::uint64_t>(cycle - counted_);
    counted_ = cycle;
    if (busy_ == 0) return;
    counters.outstanding += cycles;
    counters.banks += cycles * busy_;
  }

  std::vector<std::uint32_t> requests_;  ///< unanswered requests of each bank
  std::uint32_t busy_ = 0;               ///< number of banks with unanswered requests
  std::int64_t counted_ = 0;             ///< cycle up to which the counters have been counted
};

}  // namespace lockstep
