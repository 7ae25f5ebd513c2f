/// Policies that get values at a fixed period of simulated time: thresholds, ranks, tokens.
///
/// Such a policy has parts in many components, and no part sees the counts of the others.  At every
/// t = k * period the parts send increments to the coordinator, which decides; all apply the
/// decision at one later time, t plus the latency of the links to the coordinator and back.  So a
/// policy's actions depend on simulated time alone.
/// Sources: memory-interference.md, sections 2.3 and 2.4 (ranks of ATLAS and TCM), 3.3.2 (dynamic
/// threshold of MeDiC), 5.3.3 (tokens of MASK).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/statistics/view.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Topic of values: the plug point of the policy that asked for a controller.
enum class EpochTopic : std::uint8_t { cache_policy, dram_scheduler, translation, tlb_fill };
inline constexpr std::size_t epoch_topics = 4;

/// A policy as one component sees it.
class EpochPolicy {
 public:
  virtual ~EpochPolicy() = default;

  /// Returns counters of the policy, with the schema that its registry row names; empty without
  /// counters.
  virtual StatisticsView statistics() const { return {}; }
  /// Returns whether there is anything to report since the last report.
  virtual bool has_report() const { return false; }
  /// Appends increments and starts them from zero; called only when there are some.
  virtual void report(std::vector<std::uint64_t>& /*increments*/) {}
  /// Applies a decision of this policy's controller or of another's.
  virtual void on_epoch(EpochTopic, std::span<const std::uint64_t> /*values*/, Time /*now*/) {}
};

}  // namespace lockstep
