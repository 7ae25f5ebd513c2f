/// Simultaneous multikernel: blocks of all tenants' kernels share every SM, side by side.
///
/// The next place goes to the kernel with the smallest dominant share, and among equal ones to the
/// first that arrived.  The dominant share is the share of its running blocks in the resource of
/// which they take most: registers, shared memory, threads or block slots.  A kernel that arrives
/// gets places as blocks of others end, or with `preemption: switch` at once: see
/// partial_switching.hpp.
/// Source: 003, sections 1 and 5 (SMK: fair shares of what is inside an SM, by dominant resource);
/// preemption.md, section 2.
///
/// Simplified: shares are taken over the whole GPU, whose SMs are alike.
#include <optional>

#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

namespace {

class SimultaneousMultikernel final : public Sharing {
 public:
  explicit SimultaneousMultikernel(std::uint32_t sm_count) : sm_count_(sm_count) {}

  std::optional<std::size_t> choose(std::span<const GridView> grids, SmId) const override {
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < grids.size(); ++i) {
      if (!grids[i].offers_blocks()) continue;
      if (!least || share(grids[i]) < share(grids[*least])) least = i;
    }
    return least;
  }
  std::uint32_t sms_of(TenantId) const override { return sm_count_; }
  bool in_parts() const override { return true; }

 private:
  static std::uint64_t share(const GridView& grid) {
    return grid.blocks_running * grid.block_share;
  }

  const std::uint32_t sm_count_;
};

}  // namespace

SharingRow simultaneous_multikernel() {
  return {"smk", "blocks of all kernels side by side in every SM, by fair shares of its resources",
          [](const PolicyChoice&, const SharingSetup& setup) -> std::unique_ptr<Sharing> {
            return std::make_unique<SimultaneousMultikernel>(setup.sm_count);
          },
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{lets_sms_be_taken, shares_sms}, {}};
          }};
}

}  // namespace lockstep
