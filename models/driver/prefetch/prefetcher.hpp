#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parameters/policy.hpp"
#include "models/driver/residency.hpp"
#include "models/driver/tree_decisions.hpp"

namespace lockstep {

/// Faulting pages that are considered together, all of one allocation.
struct FaultGroup {
  const Residency& residency;
  const Allocation& allocation;
  std::span<const ManagedPage> faults;  ///< ascending, distinct, none of them valid
  std::uint64_t seed = 0;               ///< of the run
  std::uint64_t number = 0;             ///< of the group, counted per tenant: key of random draws
  TreeDecisions* decisions = nullptr;   ///< where the nodes that are fetched are counted, if at all
};

/// Plug point `prefetcher`: which pages come along with pages that faulted.
///
/// Contract: appends what is to be moved, the faulting pages included: ranges that ascend, do not
/// overlap or touch, lie in the allocation and hold no valid page.  It changes nothing but the
/// group's counts of decisions and depends on its arguments alone. Source: 001, section B.3.
class Prefetcher {
 public:
  virtual ~Prefetcher() = default;
  virtual void choose(const FaultGroup& group, std::vector<PageRange>& moves) const = 0;
};

using MakePrefetcher = std::unique_ptr<Prefetcher> (*)(const PolicyChoice&);
const PolicyRegistry<MakePrefetcher>& prefetchers();
const PolicyList& prefetcher_policies();
std::unique_ptr<Prefetcher> make_prefetcher(const PolicyChoice& choice);

// One line per implementation; each stands in the file of its name.
std::unique_ptr<Prefetcher> make_no_prefetcher(const PolicyChoice&);
std::unique_ptr<Prefetcher> make_random_prefetcher(const PolicyChoice&);
std::unique_ptr<Prefetcher> make_sequential_local_prefetcher(const PolicyChoice&);
std::unique_ptr<Prefetcher> make_tree_prefetcher(const PolicyChoice&);
const ParameterSchema& tree_prefetcher_parameters();
std::unique_ptr<Prefetcher> make_zheng_local_prefetcher(const PolicyChoice&);
std::unique_ptr<Prefetcher> make_zheng_sequential_prefetcher(const PolicyChoice&);
const ParameterSchema& zheng_sequential_parameters();

}  // namespace lockstep
