/// Spatial sharing: each tenant owns a contiguous set of SMs for the whole run.
///
/// A tenant's `sms:` says how many; tenants that say nothing share the rest equally (the first ones
/// get one more when it does not divide).  On its SMs a tenant's kernels run concurrently: blocks
/// of the earlier kernel go first, those of a later one (another stream) fill what is left.
/// Source: 003, section 2.2 (spatial multitasking), memory-interference.md, section 5.4.
///
/// Simplified: SMs of a tenant that has finished stay unused.
#include <algorithm>
#include <string>

#include "core/error/error.hpp"
#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

namespace {

class Spatial final : public Sharing {
 public:
  explicit Spatial(const SharingSetup& setup) : owner_(setup.sm_count) {
    const std::vector<std::uint32_t> counts = split(setup);
    std::uint32_t sm = 0;
    for (std::size_t tenant = 0; tenant < counts.size(); ++tenant) {
      for (std::uint32_t i = 0; i < counts[tenant]; ++i) {
        owner_[sm++] = TenantId{static_cast<std::uint16_t>(tenant)};
      }
    }
  }

  std::optional<std::size_t> choose(std::span<const GridView> grids, SmId sm) const override {
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const GridView& grid = grids[i];
      if (grid.tenant == owner_[sm.value()] && grid.offers_blocks()) return i;
    }
    return std::nullopt;
  }

  std::uint32_t sms_of(TenantId tenant) const override {
    return static_cast<std::uint32_t>(std::count(owner_.begin(), owner_.end(), tenant));
  }

  bool may_have(TenantId tenant, SmId sm) const override { return owner_[sm.value()] == tenant; }

 private:
  static std::vector<std::uint32_t> split(const SharingSetup& setup) {
    std::vector<std::uint32_t> counts = setup.sms_per_tenant;
    std::uint32_t asked = 0, open = 0;
    for (const std::uint32_t sms : counts) {
      if (sms == SharingSetup::no_sms) continue;
      asked += sms;
      if (sms == 0) ++open;
    }
    if (asked + open > setup.sm_count) {
      throw UserError("policies.sharing",
                      "the tenants need at least " + std::to_string(asked + open) +
                          " SMs, the GPU has " + std::to_string(setup.sm_count),
                      "lower the tenants' sms or raise gpu.sm.count");
    }
    std::uint32_t left = setup.sm_count - asked;
    for (std::uint32_t& sms : counts) {
      if (sms == SharingSetup::no_sms) {
        sms = 0;
        continue;
      }
      if (sms != 0) continue;
      sms = (left + open - 1) / open;
      left -= sms;
      --open;
    }
    return counts;
  }

  std::vector<TenantId> owner_;  ///< owner of each SM
};

}  // namespace

SharingRow spatial_sharing() {
  return {"spatial", "SMs split among tenants for the whole run",
          [](const PolicyChoice&, const SharingSetup& setup) -> std::unique_ptr<Sharing> {
            return std::make_unique<Spatial>(setup);
          }};
}

}  // namespace lockstep
