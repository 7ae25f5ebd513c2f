#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Controller in the coordinator, which decides for all parts of one policy.
///
/// Contract: decisions depend only on the arguments and on the state in serialize.  Reports of an
/// epoch come in one order at any layout; an epoch without reports is not decided.
class EpochController {
 public:
  virtual ~EpochController() = default;

  /// Returns the epoch length: any positive time, even shorter than a round trip to all members.
  virtual Time period() const = 0;
  /// Adds the counts of one of the policy's parts in an epoch.
  virtual void add(std::span<const std::uint64_t> increments) = 0;
  /// Appends the values for all parts, if there are any. `epoch`: the k of the reports.
  virtual void decide(std::uint64_t epoch, std::vector<std::uint64_t>& values) = 0;
  virtual void serialize(Archive&) {}
};

/// Setup of a controller.
struct EpochControllerSetup {
  PolicyChoice choice;  ///< name and parameters of the policy
  std::size_t tenants = 0;
  Time cycle;  ///< clock period in which the parameters count
};

/// Factory of a policy's controller. A policy has one if its parts follow counts of the whole
/// machine.
using MakeEpochController = std::unique_ptr<EpochController> (*)(const EpochControllerSetup&);

}  // namespace lockstep
