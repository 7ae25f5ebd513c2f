/// A baseline: GPUs are drawn at random, with a number of its own for each tenant.
///
/// Source: own choice.
///
/// Simplified: nothing.
#include "core/random/random.hpp"

#include "models/gpu/placement/placement.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t placement_purpose = 0x706c6163;

class RandomPlacement final : public TenantPlacement {
 public:
  std::uint32_t choose(std::span<const GpuLoad> gpus, const TenantToPlace& tenant) const override {
    const std::uint32_t word =
        random_block(tenant.seed, ComponentId::none(), placement_purpose, tenant.number)[0];
    return static_cast<std::uint32_t>((std::uint64_t{word} * gpus.size()) >> 32);
  }
};

}  // namespace

PlacementRow random_placement() {
  return {"random", "on any GPU, by simulation.seed and the tenant's number",
          make_placement_as<RandomPlacement>};
}

}  // namespace lockstep
