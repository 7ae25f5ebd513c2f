#pragma once

#include <vector>

#include "models/cpu/core_statistics.hpp"

namespace lockstep {

/// How many DRAM banks work for a core, over time.
/// Source: memory-interference.md, section 1.4 (BLP).
class BankOccupancy {
 public:
  explicit BankOccupancy(std::uint32_t banks) : reads_(banks) {}

  /// Notes that a read was sent to a bank, or answered; cycles never decrease.
  void sent(std::uint32_t bank, std::int64_t cycle, CoreStatistics& statistics) {
    count(cycle, statistics);
    busy_ += reads_[bank]++ == 0;
  }
  void answered(std::uint32_t bank, std::int64_t cycle, CoreStatistics& statistics) {
    count(cycle, statistics);
    busy_ -= --reads_[bank] == 0;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(reads_, busy_, counted_);
  }

 private:
  void count(std::int64_t cycle, CoreStatistics& statistics) {
    const auto cycles = static_cast<std::uint64_t>(cycle - counted_);
    counted_ = cycle;
    if (busy_ == 0) return;
    statistics.outstanding_cycles += cycles;
    statistics.bank_cycles += cycles * busy_;
  }

  std::vector<std::uint32_t> reads_;  ///< unanswered reads of each bank
  std::uint32_t busy_ = 0;            ///< number of banks with unanswered reads
  std::int64_t counted_ = 0;          ///< cycle up to which bank_cycles has been counted
};

}  // namespace lockstep
