/// First fit, in the order of the scenario: later GPUs stay free as long as memory suffices.
///
/// Source: own choice; first fit of bin packing.
///
/// Simplified: managed memory counts in full, though pages of it may stay at the host.
#include <algorithm>

#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

class Packed final : public TenantPlacement {
 public:
  std::uint32_t choose(std::span<const GpuLoad> gpus, const TenantToPlace& tenant) const override {
    const auto fits = [&](const GpuLoad& gpu) {
      return gpu.left() >= static_cast<std::int64_t>(tenant.bytes);
    };
    auto chosen = std::find_if(gpus.begin(), gpus.end(), fits);
    if (chosen == gpus.end())
      chosen = std::max_element(gpus.begin(), gpus.end(), [](const GpuLoad& a, const GpuLoad& b) {
        return a.left() < b.left();
      });
    return static_cast<std::uint32_t>(chosen - gpus.begin());
  }
};

}  // namespace

PlacementRow packed_placement() {
  return {"packed",
          "on the first GPU whose memory holds the tenant's beside that of the others there; the "
          "one with most left if none does",
          make_placement_as<Packed>};
}

}  // namespace lockstep
