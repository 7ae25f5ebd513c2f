#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Neighbouring pages of a tenant's address space.
struct TenantPages {
  TenantId tenant;
  VirtualPage first;
  std::uint64_t count = 0;

  VirtualPage end() const { return first + count; }
  bool overlaps(const TenantPages& other) const {
    return tenant == other.tenant && first < other.end() && other.first < end();
  }
  bool operator==(const TenantPages&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, first, count);
  }
};

}  // namespace lockstep
