#include "models/driver/prefetch/prefetcher.hpp"

namespace lockstep {

const PolicyRegistry<MakePrefetcher>& prefetchers() {
  static const PolicyRegistry<MakePrefetcher> registry{
      {"none", "only what faulted", make_no_prefetcher},
      {"random", "one more page of the same 2 MiB (001, section B.3.1)", make_random_prefetcher},
      {"sequential-local", "the block of 64 KiB (001, section B.3.2)",
       make_sequential_local_prefetcher},
      {"tree", "the block, and subtrees that are mostly there (001, section B.3.3)",
       make_tree_prefetcher, &tree_prefetcher_parameters()},
      {"zheng-local512k", "512 KiB from the page on (001, section B.3.2)",
       make_zheng_local_prefetcher},
      {"zheng-seq", "the allocation from its lowest address on (001, section B.3.2)",
       make_zheng_sequential_prefetcher, &zheng_sequential_parameters()},
  };
  return registry;
}

const PolicyList& prefetcher_policies() {
  return prefetchers().list();
}

std::unique_ptr<Prefetcher> make_prefetcher(const PolicyChoice& choice) {
  return prefetchers().factory(choice)(choice);
}

}  // namespace lockstep
