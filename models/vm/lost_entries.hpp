/// Entries that a TLB lost to flushes and shootdowns, so that later misses on them are not counted
/// as misses that the TLB's size caused.
///
/// An entry that was flushed or shot down is remembered until it is requested, filled again or
/// pushed out by later ones.  As many are kept as the TLB holds, set by set: an older entry would
/// have been replaced by now anyway.
/// Source: virtual-memory-and-exceptions.md, sections 6 and 16 (misses on just-flushed pages).
#pragma once

#include <cstdint>
#include <optional>

#include "models/vm/tlb.hpp"

namespace lockstep {

/// flush: other pages came; shootdown: the entry's own page left.
enum class TlbLoss : std::uint8_t { flush, shootdown };
inline constexpr const char* tlb_loss_names[] = {"flush", "shootdown"};

class LostEntries {
 public:
  LostEntries() = default;
  /// Parameters of the TLB.
  template <class Parameters>
  explicit LostEntries(const Parameters& p) : lost_(p) {}

  /// The TLB is about to be flushed of a tenant's entries, or (no tenant) of all.
  void flushed(const Tlb& tlb, TenantId tenant) {
    note_all(tlb.base, tenant, lost_.base);
    note_all(tlb.large, tenant, lost_.large);
  }
  /// Remembers the page as lost, if the TLB has its entry, which is about to be dropped, or had it
  /// until an earlier loss.
  void dropped(const Tlb& tlb, TenantPage where, TlbLoss why) {
    note(tlb.base, TlbKey::base(where), lost_.base, why);
    note(tlb.large, TlbKey::large(where), lost_.large, why);
  }
  /// Returns how the page's entry was lost, if it was.
  std::optional<TlbLoss> find(TenantPage where) const {
    if (const auto i = lost_.base.find(TlbKey::base(where)); i != TlbArray::none)
      return static_cast<TlbLoss>(lost_.base[i].mark);
    if (const auto i = lost_.large.find(TlbKey::large(where)); i != TlbArray::none)
      return static_cast<TlbLoss>(lost_.large[i].mark);
    return std::nullopt;
  }
  void mark(TenantPage first, std::uint32_t count, PageBits& bits) const {
    lost_.mark(first, count, bits);
  }
  std::size_t places() const { return lost_.places(); }
  void forget(TenantPage where) { lost_.drop(where); }
  void forget_tenant(TenantId tenant) { lost_.drop_tenant(tenant); }

  void serialize(Archive& archive) { lost_.serialize(archive); }

 private:
  static void note(const TlbArray& from, TlbKey key, TlbArray& to, TlbLoss why) {
    if (from.find(key) != TlbArray::none || to.find(key) != TlbArray::none)
      to[to.insert(key, {})].mark = static_cast<std::uint32_t>(why);
  }
  static void note_all(const TlbArray& from, TenantId tenant, TlbArray& to) {
    from.for_each([&](const TlbArray::Entry& entry) {
      if (!tenant.valid() || tenant == entry.key.tenant())
        to[to.insert(entry.key, {})].mark = static_cast<std::uint32_t>(TlbLoss::flush);
    });
  }

  Tlb lost_;  ///< keys without translations, marked with the way in which each was lost
};

}  // namespace lockstep
