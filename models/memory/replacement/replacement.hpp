#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/statistics/view.hpp"
#include "models/memory/cache_line.hpp"
#include "models/memory/partition_policy.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Plug point `replacement`: which line of a full L2 set leaves.
///
/// Contract: a policy overrides the hooks that it needs and names them in `hooks()`; the others are
/// never called, so that LRU costs no call.  One object serves all banks of a partition and keeps
/// its own state for each way: sets are numbered over the partition, ways within a set.  A policy
/// depends only on calls of its hooks and on the state in serialize.  Free ways are taken without
/// asking it, and a cache policy may restrict its candidates (CachePolicy::candidates).
/// Source: 004, section 4.3.3 (replacement beside bypass and insertion).
class Replacement {
 public:
  enum Hook : unsigned {
    uses = 1,      ///< calls on_use
    installs = 2,  ///< calls on_install
    chooses = 4,   ///< calls victim, where the least recently used line would go otherwise
  };
  explicit Replacement(unsigned hooks) : hooks_(hooks) {}
  virtual ~Replacement() = default;
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  bool has(Hook hook) const { return (hooks_ & hook) != 0; }

  /// A lookup finds the line of a way.
  virtual void on_use(const CachePlace&, const MemoryRequest&) {}
  /// A line comes in at a way.
  virtual void on_install(const CachePlace&, const MemoryRequest&, CachePosition) {}
  /// Returns the way of the full set `set` that `line` takes, one of `candidates` (a mask of ways
  /// with at least one bit set).
  virtual std::uint32_t victim(std::uint32_t set, std::uint32_t line, std::span<const CacheWay>,
                               std::uint64_t candidates) = 0;

  virtual StatisticsView statistics() const { return {}; }
  virtual void serialize(Archive&) {}

 private:
  const unsigned hooks_;
};

/// Trait: the policy respects the place that a cache policy gives a new line.
inline constexpr const char* orders_lines = "orders lines";
/// Trait: requests shall carry the priorities that programs give lines (noc/l2_priority_mark.hpp).
inline constexpr const char* honours_hints = "honours hints";

using ReplacementFactory = PartitionPolicyFactory<Replacement>;
const PolicyRegistry<ReplacementFactory>& replacement_registry();
/// Returns the policies, for ParametersOf::policy.
const PolicyList& replacement_policies();
std::unique_ptr<Replacement> make_replacement(const PartitionPolicySetup& setup);

/// Sets of all L2 banks of a partition together.
inline std::uint32_t sets_of_partition(const L2Parameters& l2) {
  return l2.total_banks() * l2.sets_per_bank();
}

}  // namespace lockstep
