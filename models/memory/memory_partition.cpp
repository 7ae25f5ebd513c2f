#include "models/memory/memory_partition.hpp"

#include <algorithm>

#include "models/memory/partition_core.hpp"

namespace lockstep {

class MemoryPartition::Impl final : public PartitionCore {
  using PartitionCore::PartitionCore;
};

MemoryPolicies MemoryPolicies::defaults() {
  const auto named = [](const PolicyList& list, const char* name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [name](const PolicyInfo& p) { return p.name == name; });
    return PolicyChoice(*found);
  };
  return {named(cache_policies(), "lru"), named(dram_scheduler_policies(), "fr-fcfs")};
}

MemoryPartition::MemoryPartition(const MemoryParameters& parameters, const NocParameters& noc,
                                 const MemoryPolicies& policies, PartitionId index,
                                 const AddressMapping& mapping, const std::vector<Link>& to_sms,
                                 Link to_gmmu, Link to_host, std::size_t tenants)
    : impl_(std::make_unique<Impl>(parameters, noc, policies, index, mapping, to_sms, to_gmmu,
                                   to_host, tenants)) {}
MemoryPartition::~MemoryPartition() = default;

Time MemoryPartition::next_activity() const {
  return impl_->next_activity();
}

void MemoryPartition::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  impl_->advance(horizon, inbox, outbox);
}

void MemoryPartition::serialize(Archive& archive) {
  archive.section("partition", 1);
  impl_->serialize(archive);
}

StatisticsView MemoryPartition::statistics(Time) {
  return statistics_view(impl_->statistics());
}

bool MemoryPartition::finished() const {
  return impl_->unanswered() == 0;
}

std::string MemoryPartition::waiting_for() const {
  return impl_->waiting_for();
}

const StatisticsSchema& memory_partition_statistics() {
  return statistics_schema_of<PartitionStatistics>();
}

}  // namespace lockstep
