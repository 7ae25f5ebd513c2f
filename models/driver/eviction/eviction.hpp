#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "models/driver/residency.hpp"
#include "models/driver/tree_decisions.hpp"

namespace lockstep {

/// View of an eviction policy when it chooses.
class EvictionView {
 public:
  virtual ~EvictionView() = default;
  virtual const Residency& residency() const = 0;
  /// Returns whether a page is in GPU memory and may be taken away now (nothing pins it, no replay
  /// of it is under way).
  virtual bool evictable(ManagedPage page) const = 0;
  virtual std::uint64_t seed() const = 0;
  /// Returns the counts of emptied nodes, if the policy has them.
  virtual TreeDecisions* decisions(TenantId /*tenant*/) const { return nullptr; }
};

/// Plug point `eviction`: it chooses the pages that leave a full GPU memory.
///
/// Contract: the driver reports pages that come, pages that walks find, and pages that go.
/// `choose` names pages to evict now, in ascending ranges that do not cross allocations; each page
/// is in GPU memory and evictable.  It may name more pages than are wanted (its granularity), and
/// fewer only when no more are evictable; a policy that never evicts names none.  The result
/// depends only on these reports and on the arguments.
/// Source: virtual-memory-and-exceptions.md, section 10.
class Eviction {
 public:
  virtual ~Eviction() = default;
  /// Returns whether the policy ever names a page, on which messages about full memory depend.
  virtual bool evicts() const { return true; }
  virtual void arrived(ManagedPage page) = 0;
  virtual void accessed(ManagedPage page) = 0;
  virtual void left(ManagedPage page) = 0;
  /// `number`: number of the eviction, the key of random draws.
  virtual void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t number,
                      std::vector<PageRange>& victims) = 0;
  virtual void serialize(Archive& archive) = 0;
};

using MakeEviction = std::unique_ptr<Eviction> (*)(const PolicyChoice&);
using EvictionRow = PolicyRegistry<MakeEviction>::Row;
/// Makes a policy that takes parameters of its own, or none.
template <class Policy, class Parameters = void>
std::unique_ptr<Eviction> make_eviction_as(const PolicyChoice& choice) {
  if constexpr (std::is_void_v<Parameters>) {
    return std::make_unique<Policy>();
  } else {
    return std::make_unique<Policy>(choice.parameters<Parameters>());
  }
}
const PolicyRegistry<MakeEviction>& evictions();
const PolicyList& eviction_policies();
std::unique_ptr<Eviction> make_eviction(const PolicyChoice& choice);

}  // namespace lockstep
