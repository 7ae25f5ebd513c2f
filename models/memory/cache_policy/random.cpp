/// A share of the warps, drawn again in each period, bypasses the L2.
///
/// Source: 004, section 4.4 (Rand, against which MeDiC is compared); memory-interference.md,
/// section 3.2 (AMB-24: a share of the warps, not of the requests).
///
/// Simplified: each warp slot is drawn separately, so that the share holds on average.
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/memory/cache_policy/marked_bypass.hpp"
#include "models/memory/cache_policy/period.hpp"

namespace lockstep {
namespace {

struct RandomBypassParameters {
  double share = 0;
  Cycles period;
  static auto schema() {
    using namespace literals;
    using P = RandomBypassParameters;
    return parameters<P>()
        .field("share", &P::share, 0.5, range(0.0, 1.0), "share of the warps that goes past the L2")
        .field("period", &P::period, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which the warps are drawn anew");
  }
};

class RandomWarps final : public SmSide {
 public:
  explicit RandomWarps(const SmSideSetup& setup)
      : RandomWarps(setup, setup.choice.parameters<RandomBypassParameters>()) {}

  void mark(MemoryRequest& request, Time now) override {
    if (period_.begun(now)) draw();
    if (bypass_[request.warp]) request.marks |= mark_bypass;
  }
  void serialize(Archive& archive) override { archive(period_, random_, bypass_); }

 private:
  RandomWarps(const SmSideSetup& setup, const RandomBypassParameters& p)
      : share_(p.share),
        period_(setup.cycle * p.period.count()),
        random_(setup.random(0)),
        bypass_(setup.warps) {
    draw();
  }
  void draw() {
    for (auto&& bypasses : bypass_) bypasses = random_.uniform() < share_;
  }

  const double share_;
  Period period_;
  Random random_;
  std::vector<bool> bypass_;  ///< flag of each warp slot
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row random_cache_policy() {
  return {"random",
          "warps drawn at random bypass (004, section 4.4)",
          {.make = [](const PartitionPolicySetup&) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<MarkedBypass>();
           },
           .sm_side = {[](const SmSideSetup& setup) -> std::unique_ptr<SmSide> {
             return std::make_unique<RandomWarps>(setup);
           }}},
          &schema_of<RandomBypassParameters>()};
}

}  // namespace lockstep
