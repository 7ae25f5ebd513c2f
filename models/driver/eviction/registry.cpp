#include "models/driver/eviction/eviction.hpp"
#include "models/driver/eviction/granularity.hpp"

namespace lockstep {

const PolicyRegistry<MakeEviction>& evictions() {
  static const PolicyRegistry<MakeEviction> registry{
      {"none", "nothing leaves: who needs room when memory is full ends", make_no_eviction},
      {"lru", "least recently used", make_lru_eviction, &schema_of<GranularityParameters>()},
      {"lfu", "least frequently used; newcomers begin at the count of what was evicted last",
       make_lfu_eviction, &schema_of<LargeGranularityParameters>()},
      {"random", "any, with the same probability", make_random_eviction,
       &schema_of<GranularityParameters>()},
      {"sequential-local", "the block of 64 KiB of the least recently used page",
       make_sequential_local_eviction},
      {"tree", "that block, and subtrees that are mostly gone (mirrors the prefetcher)",
       make_tree_eviction},
  };
  return registry;
}

const PolicyList& eviction_policies() {
  return evictions().list();
}

std::unique_ptr<Eviction> make_eviction(const PolicyChoice& choice) {
  return evictions().factory(choice)(choice);
}

}  // namespace lockstep
