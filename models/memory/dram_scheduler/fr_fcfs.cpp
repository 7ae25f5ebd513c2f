/// First ready, first come first served.
///
/// Of all commands that can issue now, column commands for open rows go first, the oldest request
/// first; beside them the oldest request whose bank needs another row.  A row stays open while a
/// request for it waits.
/// Source: 004, section 2.1 of memory-interference.md (Rixner et al., ISCA 2000).
///
/// Simplified: a bank stops serving younger row hits once its oldest request is older than
/// `age_limit`; the sources starve such requests, we do not let them wait for ever unless it is 0.
#include <algorithm>
#include <bit>

#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/bank_race.hpp"

namespace lockstep {
namespace {

struct FrFcfsParameters {
  Cycles age_limit;
  static auto schema() {
    using namespace literals;
    return parameters<FrFcfsParameters>().field(
        "age_limit", &FrFcfsParameters::age_limit, 5000_cycles, at_least(0_cycles),
        "DRAM cycles after which a request goes before younger hits in its bank; 0: never");
  }
};

class FrFcfs final : public DramScheduler {
 public:
  explicit FrFcfs(Cycles age_limit)
      : age_limit_(age_limit == Cycles{0} ? unlimited : age_limit.count()) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    const std::uint64_t active = queue.active_banks();
    const std::uint64_t stale = now >= next_deadline_ ? active : queue.changed_banks() & active;
    if (now >= next_deadline_) next_deadline_ = DramCycle::never();
    for (std::uint64_t rest = stale; rest != 0; rest &= rest - 1)
      nominate(queue, banks, static_cast<std::uint32_t>(std::countr_zero(rest)), now);
    return race_.choose(queue, banks, active, now);
  }

 private:
  static constexpr std::int64_t unlimited = DramCycle::never().value() / 2;

  /// Derives from the queue which request a bank should serve next, when the bank changed.
  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank, DramCycle now) {
    const std::uint32_t head = queue.oldest(bank);
    std::uint32_t place = queue.oldest_hit(bank);
    bool column = place != DramEntry::none;
    if (column && place != head) {
      const DramCycle deadline = queue[head].arrival + age_limit_;
      column = now < deadline;
      if (column) next_deadline_ = std::min(next_deadline_, deadline);
    }
    if (!column) place = head;
    race_.nominate(queue, banks, bank, place, column, now);
  }

  const std::int64_t age_limit_;
  BankRace<false> race_;
  DramCycle next_deadline_ = DramCycle::never();  ///< when a bank's oldest request turns old
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row fr_fcfs_scheduler() {
  return {"fr-fcfs",
          "requests for open rows first, then the oldest (004, section 2)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
            return std::make_unique<FrFcfs>(setup.choice.parameters<FrFcfsParameters>().age_limit);
          }},
          &schema_of<FrFcfsParameters>()};
}

}  // namespace lockstep
