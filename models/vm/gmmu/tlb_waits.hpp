#pragma once

#include <optional>

#include "models/vm/gmmu/lookups.hpp"
#include "models/vm/gmmu_statistics.hpp"

namespace lockstep {

/// Interference at the second-level TLB: which tenant waited for a port or an MSHR behind which
/// tenant, and whose entries replaced entries of which tenant. Source: architecture.md, section 3
/// "interference attribution".
class TlbWaits {
 public:
  explicit TlbWaits(GmmuStatistics& statistics) : statistics_(statistics) {}

  /// Begins the lookup of a request that has arrived; returns false if there is none.
  bool take_arrived(LookupStage& arrived, std::int64_t cycle, TranslateRequest& request) {
    const std::int64_t arrival = arrived.next();
    if (!arrived.take(cycle, request)) return false;
    if (cycle > arrival) {
      const auto waited = static_cast<std::uint64_t>(cycle - arrival);
      statistics_.tlb_port_cycles[request.tenant] += waited;
      statistics_.tlb_port_wait_behind.at(request.tenant, last_) += waited;
    }
    last_ = request.tenant;
    return true;
  }
  /// A miss gets the MSHR that a walk of the tenant `behind` gave up.
  void take_stalled(LookupStage& stalled, std::int64_t cycle, std::uint16_t behind,
                    TranslateRequest& request) {
    const auto waited = static_cast<std::uint64_t>(cycle - stalled.next());
    stalled.take(cycle, request);
    statistics_.mshr_stall_cycles[request.tenant] += waited;
    statistics_.mshr_wait_behind.at(request.tenant, behind) += waited;
  }
  void evicted(std::optional<TenantId> victim, std::uint16_t culprit) {
    if (victim) ++statistics_.tlb_evicted_by.at(victim->value(), culprit);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(last_);
  }

 private:
  GmmuStatistics& statistics_;
  std::uint16_t last_ = 0;  ///< tenant of the lookup that began last
};

}  // namespace lockstep
