#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/time/time.hpp"
#include "models/coordinator/epoch_policy.hpp"
#include "models/memory/cache_line.hpp"
#include "models/memory/partition_policy.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// The sectors that a lookup found.
struct CacheLookup {
  std::uint8_t hits = 0;      ///< sectors in the L2
  std::uint8_t arriving = 0;  ///< sectors already on their way, for an earlier request
};

enum class CacheAdmission : std::uint8_t { to_bank, to_dram };

struct CacheInsertion {
  bool allocate = true;
  CachePosition position = CachePosition::usual;
  std::uint8_t line_class = 0;  ///< class below 16
};

/// Plug point `cache_policy`: bypass and insertion in the L2 banks of one partition.  The plug
/// point `replacement` decides which line leaves a full set; a cache policy may restrict its
/// choice.
///
/// Contract: a policy overrides the hooks it needs and names them in `hooks()`; the others are
/// never called, so that LRU costs no call.  One object serves a partition; it knows nothing of
/// other partitions and depends only on calls of its hooks and on the state in serialize. Periodic
/// actions are computed from `now` when a hook is called.
/// Source: memory-interference.md, section 7.3.
class CachePolicy : public EpochPolicy {
 public:
  enum Hook : unsigned {
    admits = 1,     ///< calls on_arrival
    observes = 2,   ///< calls on_lookup
    inserts = 4,    ///< calls on_insertion
    restricts = 8,  ///< calls candidates
    mourns = 16,    ///< calls on_eviction
  };
  explicit CachePolicy(unsigned hooks) : hooks_(hooks) {}
  bool has(Hook hook) const { return (hooks_ & hook) != 0; }

  // `line` is its number in the partition.

  /// Decides before the bank arbiter: to a bank, or past the L2 to DRAM. Atomics always look up,
  /// and so do loads of sectors that are newer here than in DRAM.
  virtual CacheAdmission on_arrival(const MemoryRequest&, std::uint64_t /*line*/, Time /*now*/) {
    return CacheAdmission::to_bank;
  }
  /// Called for every lookup, with the sectors that it found; the others missed.
  virtual void on_lookup(const MemoryRequest&, CacheLookup, Time /*now*/) {}
  /// Called when sectors arrive from DRAM, or a store allocates, for a line that is absent.
  virtual CacheInsertion on_insertion(const MemoryRequest&, std::uint64_t /*line*/, Time /*now*/) {
    return {};
  }
  /// Returns a mask of the ways of a full set that may leave; at least one.
  virtual std::uint64_t candidates(std::span<const CacheWay>) { return ~std::uint64_t{0}; }
  /// A line was evicted.
  virtual void on_eviction(std::uint64_t /*line*/, std::uint8_t /*line_class*/) {}

  virtual void serialize(Archive&) {}

 private:
  const unsigned hooks_;
};

/// Trait: its SM side marks requests of warps that mostly hit.
inline constexpr const char* knows_hitting_warps = "knows hitting warps";
/// Returns the need of a policy that gives lines a place by CachePosition. `why`: what the policy
/// does.
PolicyNeed needs_order_of_lines(std::string why);

using CachePolicyFactory = PartitionPolicyFactory<CachePolicy>;
const PolicyRegistry<CachePolicyFactory>& cache_policy_registry();
/// Returns the policies, for ParametersOf::policy.
const PolicyList& cache_policies();
std::unique_ptr<CachePolicy> make_cache_policy(const PartitionPolicySetup& setup);

}  // namespace lockstep
