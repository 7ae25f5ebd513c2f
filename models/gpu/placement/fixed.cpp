/// A tenant that names no GPU is on the first.
///
/// Source: own choice.
///
/// Simplified: nothing.
#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

class Fixed final : public TenantPlacement {
 public:
  std::uint32_t choose(std::span<const GpuLoad> /*gpus*/,
                       const TenantToPlace& /*tenant*/) const override {
    return 0;
  }
};

}  // namespace

PlacementRow fixed_placement() {
  return {"fixed", "a tenant without gpu: runs on GPU 0", make_placement_as<Fixed>};
}

}  // namespace lockstep
