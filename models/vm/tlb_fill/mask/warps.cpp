/// Warps of an SM that ran in an epoch, and the number that waited for each translation.
///
/// Source: 004, sections 6.4.2 and 6.4.4; memory-interference.md, sections 5.3.3 and 5.3.5.
///
/// Simplified: a warp ran if it sent a request to the memory or waited for a translation.
#include <bit>
#include <vector>

#include "models/vm/tlb_fill/mask/mask.hpp"

namespace lockstep {
namespace {

class MaskWarps final : public SmSide {
 public:
  explicit MaskWarps(const SmSideSetup& setup) : sm_(setup.sm), tenants_(setup.tenants) {}

  void mark(MemoryRequest& request, Time) override {
    tenants_[request.tenant].warps |= std::uint64_t{1} << request.warp;
    any_ = true;
  }
  void on_translation(TenantId tenant, std::uint64_t warps, Time) override {
    MaskReport::OfSm& counts = tenants_[tenant.value()];
    counts.warps |= warps;
    counts.waited += static_cast<std::uint64_t>(std::popcount(warps));
    any_ = true;
  }
  bool has_report() const override { return any_; }
  void report(std::vector<std::uint64_t>& increments) override {
    increments.push_back(sm_);
    for (MaskReport::OfSm& counts : tenants_) {
      increments.insert(increments.end(), {counts.warps, counts.waited});
      counts = {};
    }
    any_ = false;
  }
  void serialize(Archive& archive) override {
    for (MaskReport::OfSm& counts : tenants_) archive(counts.warps, counts.waited);
    archive(any_);
  }

 private:
  const std::uint32_t sm_;
  std::vector<MaskReport::OfSm> tenants_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<SmSide> make_mask_warps(const SmSideSetup& setup) {
  return std::make_unique<MaskWarps>(setup);
}

}  // namespace lockstep
