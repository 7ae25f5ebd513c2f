/// First come, first served: only the oldest request gets commands.
///
/// Source: gpu-parameters.md, section 9 (scheduler 0); the yardstick of 004, chapter 5.
///
/// Simplified: rows of younger requests are not opened in advance.
#include <bit>

#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {
namespace {

class Fcfs final : public DramScheduler {
 public:
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    std::uint32_t oldest = DramEntry::none;
    for (std::uint64_t rest = queue.active_banks(); rest != 0; rest &= rest - 1) {
      const std::uint32_t head = queue.oldest(static_cast<std::uint32_t>(std::countr_zero(rest)));
      if (oldest == DramEntry::none || queue.age(head) > queue.age(oldest)) oldest = head;
    }
    DramChoice choice;
    if (oldest == DramEntry::none) return choice;
    const DramEntry& entry = queue[oldest];
    const DramCycle at = earliest_command(banks, entry);
    if (at > now) {
      choice.wake = at;
    } else if (banks.open_row(entry.bank) == entry.row) {
      choice.column = oldest;
    } else {
      choice.row = oldest;
    }
    return choice;
  }
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row fcfs_scheduler() {
  return {"fcfs",
          "first come, first served",
          {[](const PartitionPolicySetup&) -> std::unique_ptr<DramScheduler> {
            return std::make_unique<Fcfs>();
          }}};
}

}  // namespace lockstep
