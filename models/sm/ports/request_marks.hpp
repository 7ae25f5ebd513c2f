/// Parts of the run's memory policies in an SM, and their way to the coordinator and back.  Where
/// the L2's replacement honours hints, a request carries the program's hint on what to keep.
///
/// Source: memory-interference.md, section 7.2.
#pragma once

#include <memory>
#include <vector>

#include "models/coordinator/policy_epochs.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/sm/parameters/sm_setup.hpp"

namespace lockstep {

class RequestMarks {
 public:
  explicit RequestMarks(const SmConstants& constants);

  /// Returns whether any policy marks requests.
  bool marks() const { return marks_; }
  bool marks_priorities() const { return constants_.setup.marks_priorities; }
  void mark(MemoryRequest& request, SmCycle now) const {
    if (!sides_.empty()) [[unlikely]]
      ask(request, now);
  }
  void answered(const MemoryResponse& answer, SmCycle now) const {
    if (!sides_.empty()) [[unlikely]]
      tell(answer, now);
  }

  bool any() const { return !sides_.empty(); }
  /// Notes that a translation has come.  `warps`: mask of the warps that waited for it.
  void translated(TenantId tenant, std::uint64_t warps, SmCycle now) const;

  void grid_begins(TenantId tenant) const {
    for (const auto& side : sides_) side->on_grid(tenant);
  }

  PolicyEpochs& epochs() { return epochs_; }
  const PolicyEpochs& epochs() const { return epochs_; }
  /// Returns the statistics of the sides that count anything.
  std::vector<StatisticsView> statistics() const;

  void serialize(Archive& archive);

 private:
  void ask(MemoryRequest& request, SmCycle now) const;
  void tell(const MemoryResponse& answer, SmCycle now) const;

  const SmConstants& constants_;
  const bool marks_;
  std::vector<std::unique_ptr<SmSide>> sides_;
  PolicyEpochs epochs_;
};

}  // namespace lockstep
