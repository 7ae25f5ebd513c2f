/// TLB of a graphics processing cluster, behind the L1 TLBs of its SMs.
///
/// A request whose page is in this TLB but not in the L1 TLB goes on a few cycles later, without
/// asking the GMMU.
/// Source: Jia et al. 2018, section 3.9 (V100: L1 TLBs reach 32 MiB, the level behind them about 8
/// GiB, in pages of 2 MiB); te42kyfo/gpu-benches, gpu-latency (at most 9 cycles more beyond 32
/// MiB).
///
/// Simplified: each SM has all entries of the cluster's TLB to itself, so that a page which another
/// SM has brought is requested once more; any number of lookups is under way at once.  One array
/// for all SMs of a cluster would be a component 9 cycles away from them, and the shortest link
/// between components bounds every window (architecture.md, section 8, "Horizons and ranks": 45
/// cycles now).
#pragma once

#include <optional>

#include "models/vm/tlb.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

class GpcTlb {
 public:
  explicit GpcTlb(const GpcTlbParameters& parameters)
      : enabled_(parameters.enabled), has_large_(parameters.large_entries > 0) {
    if (!enabled_) return;
    tlb_.base = TlbArray(parameters.entries, parameters.ways);
    if (has_large_) tlb_.large = TlbArray(parameters.large_entries, parameters.large_ways);
  }

  /// Returns the entry as it was filled in; for a large page, the entry of its first page.
  std::optional<PageTableEntry> find(TlbKey key) {
    TlbArray::Entry* entry = enabled_ ? entry_of(key) : nullptr;
    return entry ? std::optional(entry->value) : std::nullopt;
  }
  void fill(TlbKey key, PageTableEntry entry) {
    if (!enabled_) return;
    if (entry.is(PageTableEntry::large) && !has_large_)
      entry = {Tlb::entry_within(entry, key.where().page).bits & ~PageTableEntry::large};
    tlb_.insert(key.where(), entry);
  }
  /// A store has gone out under the entry.
  void note_store(TlbKey key) {
    if (TlbArray::Entry* entry = enabled_ ? entry_of(key) : nullptr)
      entry->value.bits |= PageTableEntry::dirty;
  }
  bool drop(TlbKey key) { return enabled_ && tlb_.drop(key.where()); }
  void mark(TenantPage first, std::uint32_t count, PageBits& bits) const {
    if (enabled_) tlb_.mark(first, count, bits);
  }
  std::size_t places() const { return tlb_.places(); }
  std::uint32_t flush(TenantId tenant) { return enabled_ ? tlb_.drop_tenant(tenant) : 0; }

  void serialize(Archive& archive) {
    if (enabled_) archive(tlb_);
  }

 private:
  TlbArray::Entry* entry_of(TlbKey key) {
    const auto use = [](TlbArray& array, TlbKey of) -> TlbArray::Entry* {
      const std::uint32_t index = array.find(of);
      if (index == TlbArray::none) return nullptr;
      array.touch(index);
      return &array[index];
    };
    TlbArray::Entry* entry = use(tlb_.base, key);
    return entry ? entry : use(tlb_.large, TlbKey::large(key.where()));
  }

  bool enabled_, has_large_;
  Tlb tlb_;
};

}  // namespace lockstep
