#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parameters/policy.hpp"
#include "models/driver/residency.hpp"
#include "models/driver/tree_decisions.hpp"

namespace lockstep {

/// Faulting pages that are considered together, all of one allocation.
struct FaultGroup {
  const Residency& residency;
  const Allocation& allocation;
  std::span<const ManagedPage> faults;  ///< faulting pages: ascending, distinct, none of them valid
  std::uint64_t seed = 0;               ///< seed of the run
  std::uint64_t number = 0;  ///< number of the group, counted per tenant: key of random draws
  /// Counters of the nodes that are fetched; nullptr: not counted.
  TreeDecisions* decisions = nullptr;
};

/// Plug point `prefetcher`: it chooses the pages that migrate along with faulting pages.
///
/// Contract: the prefetcher appends all pages to be moved, the faulting ones included, as ascending
/// ranges that do not overlap or touch, lie in the allocation and hold no valid page.  It changes
/// only the group's counts of decisions and depends on its arguments alone. Source: 001, section
/// B.3.
class Prefetcher {
 public:
  virtual ~Prefetcher() = default;
  virtual void choose(const FaultGroup& group, std::vector<PageRange>& moves) const = 0;
};

using MakePrefetcher = std::unique_ptr<Prefetcher> (*)(const PolicyChoice&);
using PrefetcherRow = PolicyRegistry<MakePrefetcher>::Row;
/// Makes a policy that takes parameters of its own, or none.
template <class Policy, class Parameters = void>
std::unique_ptr<Prefetcher> make_prefetcher_as(const PolicyChoice& choice) {
  if constexpr (std::is_void_v<Parameters>) {
    return std::make_unique<Policy>();
  } else {
    return std::make_unique<Policy>(choice.parameters<Parameters>());
  }
}
const PolicyRegistry<MakePrefetcher>& prefetchers();
const PolicyList& prefetcher_policies();
std::unique_ptr<Prefetcher> make_prefetcher(const PolicyChoice& choice);

}  // namespace lockstep
