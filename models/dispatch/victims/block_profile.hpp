#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/time/time.hpp"
#include "models/dispatch/victims/preemption_plan.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Durations of blocks from their start to their end if no other tenant takes their SM: the
/// knowledge of an oracle, from an earlier run.  Beside them a plan of techniques, from a file.
/// Source: 003, section 4.1 (oracle); preemption.md, section 7.4.
class BlockProfile {
 public:
  using Durations = std::vector<Time>;  ///< duration of each block; never: unknown

  BlockProfile() = default;
  /// Takes durations by tenant, then by the grids that a round of its program launches, in their
  /// order.
  explicit BlockProfile(std::vector<std::vector<Durations>> grids, PreemptionPlan plan = {})
      : grids_(std::move(grids)), plan_(std::move(plan)) {}

  /// Returns the part of the profile that concerns some tenants, numbered from 0.
  BlockProfile of_tenants(const std::vector<std::uint32_t>& tenants) const {
    std::vector<std::vector<Durations>> grids;
    for (const std::uint32_t tenant : tenants)
      grids.push_back(tenant < grids_.size() ? grids_[tenant] : std::vector<Durations>());
    return BlockProfile(std::move(grids), plan_);
  }
  /// Returns the durations for the tenant's grid number `launched_before`, over as many rounds as
  /// needed; nullptr: unknown.
  const Durations* of(TenantId tenant, std::uint64_t launched_before) const {
    if (tenant.value() >= grids_.size() || grids_[tenant.value()].empty()) return nullptr;
    const std::vector<Durations>& round = grids_[tenant.value()];
    return &round[launched_before % round.size()];
  }
  const PreemptionPlan& plan() const { return plan_; }

 private:
  std::vector<std::vector<Durations>> grids_;
  PreemptionPlan plan_;
};

}  // namespace lockstep
