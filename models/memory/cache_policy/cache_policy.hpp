#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/time/time.hpp"
#include "models/coordinator/epoch_policy.hpp"
#include "models/memory/partition_policy.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// What a replacement policy sees of the lines of a set.
struct CacheWay {
  bool valid = false;
  std::uint8_t line_class = 0;  ///< what on_insertion said (MeDiC: warp type)
  std::uint16_t tenant = 0;
  std::uint32_t last_use = 0;  ///< lines of the set that were used longer ago
};

/// The sectors that a lookup found.
struct CacheLookup {
  std::uint8_t hits = 0;      ///< there
  std::uint8_t arriving = 0;  ///< on their way already, for somebody else
};

enum class CacheAdmission : std::uint8_t { to_bank, to_dram };

/// Where a line that comes in stands among those of its set, by their last use.
enum class CachePosition : std::uint8_t { most_recent, middle, next_to_go };

struct CacheInsertion {
  bool allocate = true;
  CachePosition position = CachePosition::most_recent;
  std::uint8_t line_class = 0;  ///< below 16
};

/// Plug point `cache_policy`: bypass, insertion and replacement in the L2 banks of one partition.
///
/// Contract: a policy overrides the hooks it needs and names them in `hooks()`; the others are
/// never called, so that LRU costs no call.  One object serves a partition; it knows nothing of
/// other partitions and depends on nothing but what the hooks tell and what serialize keeps.
/// Periodic actions are computed from `now` when a hook is called.
/// Source: memory-interference.md, section 7.3.
class CachePolicy : public EpochPolicy {
 public:
  enum Hook : unsigned {
    admits = 1,    ///< on_arrival
    observes = 2,  ///< on_lookup
    inserts = 4,   ///< on_insertion
    replaces = 8,  ///< victim
    mourns = 16,   ///< on_eviction
  };
  explicit CachePolicy(unsigned hooks) : hooks_(hooks) {}
  bool has(Hook hook) const { return (hooks_ & hook) != 0; }

  // `line` is its number in the partition.

  /// Before the bank arbiter: to a bank, or past the L2 to DRAM.  Atomics always look up, and so
  /// do loads of sectors that are newer here than in DRAM.
  virtual CacheAdmission on_arrival(const MemoryRequest&, std::uint64_t /*line*/, Time /*now*/) {
    return CacheAdmission::to_bank;
  }
  /// Every lookup, with what it found; the other sectors missed.
  virtual void on_lookup(const MemoryRequest&, CacheLookup, Time /*now*/) {}
  /// Sectors arrive from DRAM (or a store allocates) for a line that is not there.
  virtual CacheInsertion on_insertion(const MemoryRequest&, std::uint64_t /*line*/, Time /*now*/) {
    return {};
  }
  /// The way to evict from a full set.
  virtual std::uint32_t victim(std::span<const CacheWay>) { return 0; }
  /// A line was evicted.
  virtual void on_eviction(std::uint64_t /*line*/, std::uint8_t /*line_class*/) {}

  virtual void serialize(Archive&) {}

 private:
  const unsigned hooks_;
};

using CachePolicyFactory = PartitionPolicyFactory<CachePolicy>;
const PolicyRegistry<CachePolicyFactory>& cache_policy_registry();
/// For ParametersOf::policy.
const PolicyList& cache_policies();
std::unique_ptr<CachePolicy> make_cache_policy(const PartitionPolicySetup& setup);

}  // namespace lockstep
