/// First ready, first come first served.
///
/// Of all commands that can issue now, column commands for open rows go first, in order of age;
/// beside them goes a row command for the oldest request whose bank needs another row.  A row stays
/// open while a request for it waits.
/// Source: 004, section 2.1 of memory-interference.md (Rixner et al., ISCA 2000).
#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/first_ready.hpp"

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
  explicit FrFcfs(Cycles age_limit) : requests_(age_limit) {}

  [[gnu::flatten]] DramChoice choose(const DramQueue& queue, const DramBanks& banks,
                                     DramCycle now) override {
    return requests_.choose(queue, banks, queue.active_banks(), now);
  }
  bool finishes_requests() const override { return true; }

 private:
  FirstReady requests_;
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
