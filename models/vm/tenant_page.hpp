#pragma once

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// A page of 4 KiB in the address space of a tenant.
struct TenantPage {
  TenantId tenant;
  VirtualPage page;

  constexpr auto operator<=>(const TenantPage&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenant, page);
  }
};

}  // namespace lockstep
