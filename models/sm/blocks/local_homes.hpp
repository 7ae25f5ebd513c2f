#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Places of local memory that warps keep while their block is not on chip, when its slots are
/// others': more than there are warp slots.
class LocalHomes {
 public:
  explicit LocalHomes(std::uint32_t count) : tenants_(count) {
    for (std::uint32_t home = count; home > 0; --home)
      free_.push_back(LocalHome(static_cast<std::uint16_t>(home - 1)));
  }

  std::vector<LocalHome> take(std::uint32_t warps, TenantId tenant) {
    std::vector<LocalHome> homes;
    for (; warps > 0; --warps) {
      homes.push_back(free_.back());
      free_.pop_back();
      tenants_[homes.back().value()] = tenant;
    }
    return homes;
  }
  void give_back(const std::vector<LocalHome>& homes) {
    free_.insert(free_.end(), homes.rbegin(), homes.rend());
  }
  TenantId tenant_at(LocalHome home) const { return tenants_[home.value()]; }

  void serialize(Archive& archive) { archive(free_, tenants_); }

 private:
  std::vector<LocalHome> free_;
  std::vector<TenantId> tenants_;  ///< whose block has the home
};

}  // namespace lockstep
