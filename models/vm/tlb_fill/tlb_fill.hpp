#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/time/time.hpp"
#include "models/coordinator/epoch_policy.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/vm/gmmu_policy.hpp"
#include "models/vm/messages.hpp"
#include "models/vm/tlb.hpp"

namespace lockstep {

/// A page walk that found its page.
struct FinishedWalk {
  TenantPage where;
  PageTableEntry entry;
  /// Requests that waited; the first one started the walk.
  std::span<const TranslateRequest> requests;
};

/// Plug point `tlb_fill`: it decides where the result of a page walk is kept.
///
/// Contract: `fill` puts the entry into the TLB or into an array of the policy, which `find` looks
/// up; `drop` removes entries.  Decisions depend only on the arguments and on the state in
/// serialize.
/// Source: memory-interference.md, sections 5.3.3 and 7.3 (004, sections 6.4.2 and 6.5).
class TlbFill : public EpochPolicy {
 public:
  virtual void fill(const FinishedWalk& walk, Time now, Tlb& tlb) = 0;
  /// Returns an entry outside of the TLB that translates the page; it is looked up together with
  /// the TLB's arrays.
  virtual const PageTableEntry* find(TenantPage) { return nullptr; }
  /// A lookup of a tenant has ended.
  virtual void on_lookup(TenantId, bool /*hit*/, Time /*now*/) {}
  /// Notes that a walk for a waiting request was requested, or has ended.
  virtual void on_walk(TenantId, bool /*begins*/) {}
  /// Each returns the number of entries dropped.
  virtual std::uint32_t drop(TenantPage) { return 0; }
  virtual std::uint32_t drop_tenant(TenantId) { return 0; }
  virtual std::uint32_t drop_all() { return 0; }
  virtual void serialize(Archive&) {}
};

struct TlbFillFactory {
  std::unique_ptr<TlbFill> (*make)(const GmmuPolicySetup&);
  MakeEpochController controller = nullptr;
  /// Schema of the policy's own counters, if it has any.
  const StatisticsSchema& (*statistics)() = nullptr;
  SmSideFactory sm_side = {};  ///< part of the policy in every SM, if it has one
};
const PolicyRegistry<TlbFillFactory>& tlb_fills();
const PolicyList& tlb_fill_policies();
std::unique_ptr<TlbFill> make_tlb_fill(const GmmuPolicySetup& setup);

}  // namespace lockstep
