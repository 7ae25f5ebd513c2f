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

/// Plug point `translation`: the structures between an L1 TLB miss and a page walk.
///
/// Contract: a translation path keeps results of walks until they are dropped.  The GMMU owns
/// queues, time and MSHRs, and calls `find_...` at the end of a lookup, whose length is in
/// `timing`.
/// Sources: 004, section 6.2 (shared TLB, page walk cache); 000, Table 1; 001, section B.2.
class TranslationPath : public EpochPolicy {
 public:
  virtual TranslationTiming timing() const = 0;
  /// Returns the policy that decides where results of walks are kept, if there is a place for them.
  virtual TlbFill* fill() { return nullptr; }

  // Entries of whole translations; a hit counts as a use.
  virtual const PageTableEntry* find_large(TenantPage) { return nullptr; }
  virtual const PageTableEntry* find_base(TenantPage) { return nullptr; }
  /// A lookup has ended.
  virtual void looked_up(TenantId, bool /*hit*/, Time /*now*/) {}
  /// Keeps the result of a walk. Returns the tenant whose entry left the second-level TLB for it,
  /// if any.
  virtual std::optional<TenantId> walked(const FinishedWalk&, Time /*now*/) { return {}; }
  /// Notes that a walk for a waiting request was requested, or has ended.
  virtual void walks(TenantId, bool /*begins*/) {}

  // Returns an entry of a page table as walks read it; only present entries are kept.
  virtual const PageTableEntry* find_level(TenantPage, unsigned /*level*/) { return nullptr; }
  virtual void keep_level(TenantPage, unsigned /*level*/, PageTableEntry) {}
  /// The level-3 entry of the page says `large` now.
  virtual void coalesced(TenantPage) {}

  /// Returns whether an entry of the page is kept with its dirty bit set; the bit is then set in
  /// memory, too.
  virtual bool known_dirty(TenantPage) const { return false; }
  virtual void set_dirty(TenantPage) {}

  // Both functions return the number of dropped entries.  `drop` covers a range under one level-4
  // table and its level-3 entry; `flush` one tenant's entries, or all of them without a tenant.
  virtual std::uint32_t drop(const PageSpan&, TlbLoss) { return 0; }
  virtual std::uint32_t flush(TenantId) { return 0; }
  /// Drops the tenant's pages, which are other ones from now on.
  virtual void forget_tenant(TenantId) {}
  /// Returns after a miss how the page's translation was dropped, if it was here until then. Each
  /// loss is returned once.
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
