#pragma once

#include <array>
#include <cstdint>

#include "models/coordinator/epoch_policy.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// epoch_report: to the coordinator; payload: increments.  epoch_values: from it, to all; payload:
/// values, which take effect when they arrive.  Both are 64-bit numbers that the policy interprets.
struct EpochMessage {
  std::uint64_t epoch = 0;  ///< number k of the epoch that ends at the report's time t = k * period
  EpochTopic topic = EpochTopic::cache_policy;
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(EpochMessage) == 16);

}  // namespace lockstep
