/// First ready, first come first served, in which every request of the CPU goes before every
/// request of the GPU.
///
/// The GPU starves while the CPU has requests.
/// Source: 004, section 5.5.4; memory-interference.md, section 2.5.
///
/// Simplified: requests that do not come from SMs or the GMMU count as the CPU's.  Among the CPU's
/// requests, and among the GPU's, requests older than `age_limit` go first, as with fr-fcfs.
#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/ordered_scheduler.hpp"

namespace lockstep {
namespace {

struct CfrFcfsParameters {
  Cycles age_limit;
  static auto schema() {
    using namespace literals;
    return parameters<CfrFcfsParameters>().field(
        "age_limit", &CfrFcfsParameters::age_limit, 5000_cycles,
        range(0_cycles, 10'000'000'000_cycles),
        "DRAM cycles after which a request goes before younger hits; 0: never");
  }
};

class CfrFcfs final : public OrderedScheduler<CfrFcfs> {
 public:
  explicit CfrFcfs(const PartitionPolicySetup& setup)
      : OrderedScheduler(setup.parameters.dram,
                         setup.choice.parameters<CfrFcfsParameters>().age_limit) {}

  std::uint32_t key(const DramQueue& queue, std::uint32_t place, bool hit, bool aged) const {
    const bool of_cpu = !is_of_gpu(queue[place].source);
    return std::uint32_t{of_cpu} << 2 | std::uint32_t{aged} << 1 | std::uint32_t{hit};
  }
  bool update(const DramQueue&, DramCycle) { return false; }
  DramCycle next_update() const { return DramCycle::never(); }
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row cfr_fcfs_scheduler() {
  return {"cfr-fcfs",
          "fr-fcfs, but the CPU before the GPU, which may starve (004, section 5.5.4)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
            return std::make_unique<CfrFcfs>(setup);
          }},
          &schema_of<CfrFcfsParameters>()};
}

}  // namespace lockstep
