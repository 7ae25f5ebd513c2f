/// Least recently used, no bypass: what the L2 does by itself when no hook is taken.
///
/// Source: 004, Tables 4.1, 6.1 and 7.1 (L2 of the baselines); the order of use is kept in the tag
/// array (models/memory/l2/l2_tags.hpp) because every policy starts from it.
#include "models/memory/cache_policy/cache_policy.hpp"

namespace lockstep {

PolicyRegistry<CachePolicyFactory>::Row lru_cache_policy() {
  return {"lru",
          "every request looks up, every miss allocates, the least recently used line goes",
          {[](const PartitionPolicySetup&) { return std::make_unique<CachePolicy>(0u); }}};
}

}  // namespace lockstep
