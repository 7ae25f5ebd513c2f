#pragma once

#include <cstddef>
#include <cstdint>

#include "core/parameters/policy.hpp"
#include "core/random/random.hpp"
#include "models/coordinator/epoch_controller.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

/// Setup of a policy of the GMMU.
struct GmmuPolicySetup {
  PolicyChoice choice;      ///< name and parameters of the policy
  VmParameters parameters;  ///< sizes and times
  std::size_t tenants = 0;
  std::uint64_t seed = 0;
  ComponentId component;

  /// Returns random numbers that are used by no other component, policy or purpose.
  Random random(std::uint32_t purpose) const { return {seed, component, purpose}; }
};

}  // namespace lockstep
