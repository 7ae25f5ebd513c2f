/// Balances the memory of tenants over the GPUs.
///
/// Source: own choice.
///
/// Simplified: managed memory counts in full, though pages of it may stay at the host.
#include <algorithm>

#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

class LeastMemory final : public TenantPlacement {
 public:
  std::uint32_t choose(std::span<const GpuLoad> gpus,
                       const TenantToPlace& /*tenant*/) const override {
    const auto has_less_left = [](const GpuLoad& a, const GpuLoad& b) {
      return a.left() < b.left();
    };
    return static_cast<std::uint32_t>(std::max_element(gpus.begin(), gpus.end(), has_less_left) -
                                      gpus.begin());
  }
};

}  // namespace

PlacementRow least_memory_placement() {
  return {"least-memory",
          "on the GPU with most memory left beside what its tenants have, the first of several",
          make_placement_as<LeastMemory>};
}

}  // namespace lockstep
