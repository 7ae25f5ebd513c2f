/// MeDiC's memory scheduler: requests of warps that mostly hit go first, in a queue of their own.
///
/// Such a warp waits for few requests, so that each costs it more.  The others starve while such
/// requests come, as in the source; they go on when these fall silent, or with
/// `open_rows` where a row is open for them.  Each queue is served as by fr-fcfs.
/// Source: 004, section 4.3.4; memory-interference.md, section 3.3.4 (AMB-09).  The source adds a
/// queue and states no size: the low one is the queue that there was, the high one is as large.
///
/// Simplified: requests that are no warp's (walks, copies, evictions) are in the low queue.
#include <algorithm>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/level_order.hpp"

namespace lockstep {
namespace {

struct MedicSchedulerParameters : LevelOrderParameters {
  std::uint32_t high = 0;
  bool writes = true;
  static auto schema() {
    using P = MedicSchedulerParameters;
    return fields<P>()
        .field("high", &P::high, 64, range(1, 4096),
               "places for warps that mostly hit, beyond the queue's own", "requests")
        .field("writes", &P::writes, true,
               "writes of warps that mostly hit go first as well, although no warp waits for one");
  }
};

struct MedicSchedulerStatistics {
  std::array<Counter, 2> requests, queue_cycles, row_hits;
  static auto schema() {
    using S = MedicSchedulerStatistics;
    constexpr const char* queues[] = {"high", "low"};
    return statistics<S>()
        .counters("requests", &S::requests, queues, "requests",
                  "requests that were served, by queue")
        .counters("queue_cycles", &S::queue_cycles, queues, "cycles",
                  "DRAM cycles from arrival to the last column command, summed")
        .counters("row_hits", &S::row_hits, queues, "requests",
                  "requests that found their row open");
  }
};

class MedicScheduler final : public DramScheduler {
 public:
  explicit MedicScheduler(const PartitionPolicySetup& setup)
      : MedicScheduler(setup.parameters.dram, setup.choice.parameters<MedicSchedulerParameters>()) {
  }

  DramDivision division() const override { return {{high_, low_}, 2, high_}; }
  DramLane lane(const MemoryRequest& request, bool write) const override {
    const bool first = (request.marks & mark_mostly_hit) != 0 && (writes_ || !write);
    const std::uint8_t lane = first ? 0 : 1;
    return {lane, lane};
  }
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    return order_.choose(queue, banks, now);
  }
  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    const DramEntry& entry = queue[place];
    ++statistics_.requests[entry.level];
    statistics_.queue_cycles[entry.level] += static_cast<std::uint64_t>(now - entry.arrival);
    if (!entry.missed_row) ++statistics_.row_hits[entry.level];
  }
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override { archive(statistics_); }

 private:
  MedicScheduler(const DramParameters& dram, const MedicSchedulerParameters& p)
      : high_(p.high),
        low_(dram.queue + dram.write_queue),
        writes_(p.writes),
        order_(dram, 0, 2, p) {}

  const std::uint32_t high_, low_;  ///< places of the high and the low queue
  const bool writes_;               ///< writes of warps that mostly hit are in the high queue
  LevelOrder order_;
  MedicSchedulerStatistics statistics_;
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row medic_scheduler() {
  return {"medic",
          "warps that mostly hit first, in a queue of their own (004, section 4.3.4)",
          {.make = [](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
             return std::make_unique<MedicScheduler>(setup);
           },
           .statistics = &statistics_schema_of<MedicSchedulerStatistics>},
          &schema_of<MedicSchedulerParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{}, {needs_hitting_warps()}};
          }};
}

}  // namespace lockstep
