#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"
#include "models/vm/lost_entries.hpp"
#include "models/vm/page_table_entry.hpp"
#include "models/vm/tlb_fill/tlb_fill.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

/// Services of the GMMU's pipeline that a TranslationPath uses.
struct TranslationTiming {
  /// true: translations take walks; false: the page tables' content is known at once.
  bool walks = true;
  std::uint32_t ports = 0;  ///< lookups that begin in a cycle; 0: requests go on to a walk
  /// Time of a lookup of the large-page entries, and of another one for small pages.
  Cycles lookup{0};
  Cycles level{0};        ///< time of a lookup before each read of a walk; 0: none
  bool together = false;  ///< true: all entries are looked up at once
};

/// Plug point `translation`: what stands between an L1 TLB miss and a page walk.
///
/// Contract: it keeps what walks found until it is dropped; the GMMU owns
/// queues, time and MSHRs, and calls `find_...` at the end of a lookup of the length in `timing`.
/// Sources: 004, section 6.2 (shared TLB, page walk cache); 000, Table 1; 001, section B.2.
class TranslationPath : public EpochPolicy {
 public:
  virtual TranslationTiming timing() const = 0;
  /// Returns the policy that decides where results of walks are kept, if there is such a place.
  virtual TlbFill* fill() { return nullptr; }

  // Entries of whole translations; a hit counts as a use.
  virtual const PageTableEntry* find_large(TenantPage) { return nullptr; }
  virtual const PageTableEntry* find_base(TenantPage) { return nullptr; }
  /// A lookup has ended.
  virtual void looked_up(TenantId, bool /*hit*/, Time /*now*/) {}
  /// Keeps the result of a walk. Returns the tenant whose entry left the second-level TLB for it,
  /// if one did.
  virtual std::optional<TenantId> walked(const FinishedWalk&, Time /*now*/) { return {}; }
  /// A walk for somebody who waits was asked for, or has ended.
  virtual void walks(TenantId, bool /*begins*/) {}

  // Entries of page tables, present ones only, as walks read them.
  virtual const PageTableEntry* find_level(TenantPage, unsigned /*level*/) { return nullptr; }
  virtual void keep_level(TenantPage, unsigned /*level*/, PageTableEntry) {}
  /// The level-3 entry of the page says `large` now.
  virtual void coalesced(TenantPage) {}

  /// Returns whether an entry kept for the page has its dirty bit set, which then is set in memory,
  /// too.
  virtual bool known_dirty(TenantPage) const { return false; }
  virtual void set_dirty(TenantPage) {}

  // Each returns the number of entries dropped.  `drop` covers a range under one level-4 table and
  // its level-3 entry; `flush` a tenant's entries, or all of them if it is no tenant's.
  virtual std::uint32_t drop(const PageSpan&, TlbLoss) { return 0; }
  virtual std::uint32_t flush(TenantId) { return 0; }
  /// The tenant's pages are other ones from now on.
  virtual void forget_tenant(TenantId) {}
  /// Returns after a miss how the page's translation was dropped, if it was here until then. Told
  /// once.
  virtual std::optional<TlbLoss> take_loss(TenantPage) { return std::nullopt; }

  virtual void serialize(Archive&) {}
};

struct TranslationFactory {
  std::unique_ptr<TranslationPath> (*make)(const GmmuPolicySetup&, std::unique_ptr<TlbFill>);
  MakeEpochController controller = nullptr;
};
const PolicyRegistry<TranslationFactory>& translation_paths();
const PolicyList& translation_policies();
std::unique_ptr<TranslationPath> make_translation_path(const GmmuPolicySetup& setup,
                                                       std::unique_ptr<TlbFill> fill);

}  // namespace lockstep
