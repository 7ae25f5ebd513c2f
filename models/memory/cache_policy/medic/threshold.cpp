/// Hit share below which a warp counts as mostly missing; it falls as the L2 misses more.
///
/// Source: 004, section 4.3.2, footnote 3; memory-interference.md, section 3.3.2 (AMB-07: steps in
/// percentage points, from the miss rate of the first period).
///
/// Simplified: the first period is that of the run, not of each kernel.
#include <algorithm>
#include <utility>

#include "models/memory/cache_policy/medic/medic.hpp"

namespace lockstep {
namespace {

class ThresholdController final : public EpochController {
 public:
  explicit ThresholdController(const EpochControllerSetup& setup)
      : parameters_(setup.choice.parameters<MedicParameters>()),
        period_(setup.cycle * parameters_.resample.count()),
        threshold_(parameters_.mostly_miss) {}

  Time period() const override { return period_; }
  void add(std::span<const std::uint64_t> increments) override {
    lookups_ += increments[0];
    misses_ += increments[1];
  }
  void decide(std::uint64_t, std::vector<std::uint64_t>& values) override {
    const auto rate = static_cast<std::int64_t>(misses_ * one / lookups_);
    lookups_ = misses_ = 0;
    if (reference_ < 0) reference_ = rate;
    const std::int64_t step = parameters_.miss_step * (one / 100);
    const std::int64_t steps = std::max<std::int64_t>(rate - reference_, 0) / step;
    const std::int64_t lowered = parameters_.mostly_miss - steps * parameters_.threshold_step;
    const auto threshold = static_cast<std::uint64_t>(std::max<std::int64_t>(lowered, 0));
    if (std::exchange(threshold_, threshold) != threshold) values.push_back(threshold);
  }
  void serialize(Archive& archive) override { archive(lookups_, misses_, reference_, threshold_); }

 private:
  static constexpr std::int64_t one = 1'000'000;

  const MedicParameters parameters_;
  const Time period_;
  std::uint64_t lookups_ = 0, misses_ = 0;
  std::int64_t reference_ = -1;  ///< miss rate of the first period, in millionths
  std::uint64_t threshold_;      ///< threshold in percent
};

}  // namespace

std::unique_ptr<EpochController> make_medic_threshold(const EpochControllerSetup& setup) {
  return std::make_unique<ThresholdController>(setup);
}

}  // namespace lockstep
