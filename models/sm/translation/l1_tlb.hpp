/// The first-level TLB, and what it lost to flushes.
///
/// The page found last is kept beside it, so that finding it again costs a comparison.  An entry
/// remembers whether a store has gone out under it.
/// Source: architecture.md, section 8, rules 7 and 8; 004, section 7.1.2 (TLB).
///
/// Cost model: a hit costs nothing, a miss costs the time of link and GMMU.
#pragma once

#include <cstdint>

#include "core/memory/warm.hpp"
#include "models/noc/ids.hpp"
#include "models/vm/lost_entries.hpp"
#include "models/vm/tlb.hpp"

namespace lockstep {

class L1Tlb {
 public:
  template <class Parameters>
  explicit L1Tlb(const Parameters& parameters)
      : hot_{.tlb = Tlb(parameters)}, flushed_(parameters) {}

  /// Returns whether the TLB has the page and a store needs nothing more; `physical` then
  /// translates.
  bool find(TlbKey key, bool write) {
    if (key == hot_.last_key && (!write || hot_.last_stored)) [[likely]]
      return true;
    return find_in_arrays(key, write);
  }
  PhysicalAddress physical(VirtualAddress address) const {
    return PhysicalAddress(hot_.last_frame | (address.value() & (page_bytes - 1)));
  }
  /// Returns whether the page found last is host memory, reached over the host link.
  bool remote() const { return hot_.last_remote; }

  /// Returns the entry for a page or the large page around it; nullptr: none.
  TlbArray::Entry* entry_of(TlbKey key);
  /// Returns whether a store under this entry needs no page_written.
  static bool is_known_written(PageTableEntry entry);
  /// Notes a store under the entry, if there is one.  Returns whether no earlier store under it is
  /// known.
  bool note_store(TlbKey key);
  /// Returns whether the page has an entry under which a store to GPU memory has gone out.
  bool stored_under(TlbKey key);
  /// Sets the bits of those of `count` pages from `first` on for which stored_under() is true.
  void mark_stored(TenantPage first, std::uint32_t count, PageBits& bits) const;
  void fill(TlbKey key, PageTableEntry entry);
  bool drop(TlbKey key);
  /// Looks in the arrays when a page is asked for again.
  void forget_last() { hot_.last_key = {}; }
  /// Sets the bits of those of `count` pages from `first` on that drop() has to be told.
  void mark(TenantPage first, std::uint32_t count, PageBits& bits) const {
    hot_.tlb.mark(first, count, bits);
    flushed_.mark(first, count, bits);
  }
  /// Returns the number of entries that mark() looks at.
  std::size_t places() const { return hot_.tlb.places() + flushed_.places(); }
  /// Returns the number of entries dropped.
  std::uint32_t flush(TenantId tenant);
  /// Returns whether the page was there until a flush, and has not been since.
  bool was_flushed(TlbKey key) const { return flushed_.find(key.where()).has_value(); }

  void warm_hot() const { warm(&hot_, sizeof hot_); }
  void serialize(Archive& archive);

 private:
  /// Members that every window touches.
  struct Hot {
    // Page found last; it is also the one used last, so that finding it again changes no order.
    TlbKey last_key = {};
    std::uint64_t last_frame = 0;
    bool last_stored = false, last_remote = false;
    Tlb tlb;
  };

  bool find_in_arrays(TlbKey key, bool write);

  Hot hot_;
  LostEntries flushed_;
};

}  // namespace lockstep
