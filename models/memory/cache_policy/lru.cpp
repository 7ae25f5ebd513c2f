/// No bypass, and no special place for new lines: the behaviour of the L2 without hooks.
///
/// Source: 004, Tables 4.1, 6.1 and 7.1 (L2 of the baselines, with `replacement: lru`).
#include "models/memory/cache_policy/cache_policy.hpp"

namespace lockstep {

PolicyRegistry<CachePolicyFactory>::Row lru_cache_policy() {
  return {"lru", "every request looks up, every miss allocates", {[](const PartitionPolicySetup&) {
            return std::make_unique<CachePolicy>(0u);
          }}};
}

}  // namespace lockstep
