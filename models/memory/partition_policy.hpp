#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/parameters/policy.hpp"
#include "core/random/random.hpp"
#include "core/statistics/schema.hpp"
#include "models/coordinator/epoch_controller.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Setup of a policy of one partition, or of one of its DRAM channels.
struct PartitionPolicySetup {
  PolicyChoice choice;          ///< name and parameters of the policy
  MemoryParameters parameters;  ///< sizes of L2 and DRAM
  PartitionId partition;
  std::size_t tenants = 0;
  std::uint64_t seed = 0;
  ComponentId component;
  std::uint32_t channel = 0;  ///< channel of a dram_scheduler

  /// Returns random numbers that are used by no other component, channel, policy or purpose.
  Random random(std::uint32_t purpose) const { return {seed, component, purpose | channel << 16}; }
};

/// Factory of the policies under one name: one policy for each partition.
template <class Policy>
struct PartitionPolicyFactory {
  std::unique_ptr<Policy> (*make)(const PartitionPolicySetup&);
  MakeEpochController controller = nullptr;
  /// Schema of the policy's own counters, if it has any: a kind of statistics of the plug point.
  const StatisticsSchema& (*statistics)() = nullptr;
  /// Returns the reason why the policy cannot work with this memory, with advice, or "".
  std::string (*objection)(const MemoryParameters&) = nullptr;
  SmSideFactory sm_side = {};  ///< part of the policy in every SM, if it has one
};

}  // namespace lockstep
