#pragma once

#include <memory>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/parameters/policy.hpp"
#include "core/statistics/view.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/noc_parameters.hpp"

namespace lockstep {

/// What stands at the plug points of a partition (keys `policies.cache_policy` and
/// `policies.dram_scheduler`; the names: cache_policies() and dram_schedulers() of the registries).
struct MemoryPolicies {
  PolicyChoice cache_policy, dram_scheduler;
  /// lru and fr-fcfs.
  static MemoryPolicies defaults();
};

/// A memory partition: L2 slices in front of a DRAM channel, and the partition's share of the GPU's
/// bytes.
///
/// A request touches bytes when it arrives, in inbox order, and takes the value read with it; the
/// L2 and the DRAM only decide when the answer leaves.  Every request is answered by a
/// memory_response on the link to its requester.
/// Source: memory-interference.md, section 1.2 (queues and their order); architecture.md, section
/// 8, rule 1.
class MemoryPartition final : public Component {
 public:
  /// `to_sms[i]` is the link to SM i; `tenants` the number of tenants of the run.
  MemoryPartition(const MemoryParameters& parameters, const NocParameters& noc,
                  const MemoryPolicies& policies, PartitionId index, const AddressMapping& mapping,
                  const std::vector<Link>& to_sms, Link to_gmmu, Link to_host, std::size_t tenants);
  ~MemoryPartition() override;

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  bool finished() const override;
  std::string waiting_for() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Schema of what MemoryPartition::statistics counts, before any partition exists.
const StatisticsSchema& memory_partition_statistics();

}  // namespace lockstep
