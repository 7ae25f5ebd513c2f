#pragma once

#include <compare>
#include <cstdint>

#include "models/vm/page_table_entry.hpp"
#include "models/vm/tenant_page.hpp"

namespace lockstep {

/// Key of an entry in a translation array: a tenant, and a number of up to 52 bits - of a page, of
/// a large page, or of a place in a page table.  A default-constructed key belongs to no entry.
class TlbKey {
 public:
  constexpr TlbKey() = default;
  constexpr TlbKey(TenantId tenant, std::uint64_t number)
      : bits_(std::uint64_t{tenant.value()} << number_bits | number) {}
  /// Returns the key of the page itself.
  static constexpr TlbKey base(TenantPage where) { return {where.tenant, where.page.value()}; }
  /// Returns the key of the large page around it.
  static constexpr TlbKey large(TenantPage where) {
    return {where.tenant, where.page.value() / pages_per_large};
  }

  constexpr TenantId tenant() const {
    return TenantId(static_cast<std::uint16_t>(bits_ >> number_bits));
  }
  constexpr std::uint64_t number() const { return bits_ & ((std::uint64_t{1} << number_bits) - 1); }
  /// Returns the page of a key made by base().
  constexpr TenantPage where() const { return {tenant(), VirtualPage{number()}}; }
  /// Returns the whole key, for tables of buckets.
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr auto operator<=>(const TlbKey&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bits_);
  }

 private:
  static constexpr unsigned number_bits = 52;
  std::uint64_t bits_ = ~std::uint64_t{0};
};

}  // namespace lockstep
