/// Any line of the set, each as likely as the others.
///
/// Source: the usual baseline without state (Jaleel et al., ISCA 2010, section 1, name what it
/// lacks).
///
/// Simplified: the numbers come from the run's seed, so that a run repeats; hardware takes a shift
/// register.
#include <bit>

#include "models/memory/replacement/replacement.hpp"

namespace lockstep {
namespace {

class RandomReplacement final : public Replacement {
 public:
  explicit RandomReplacement(const PartitionPolicySetup& setup)
      : Replacement(chooses), random_(setup.random(1)) {}

  std::uint32_t victim(std::uint32_t, std::uint32_t, std::span<const CacheWay>,
                       std::uint64_t candidates) override {
    auto skipped = random_.below(static_cast<std::uint64_t>(std::popcount(candidates)));
    for (; skipped != 0; --skipped) candidates &= candidates - 1;
    return static_cast<std::uint32_t>(std::countr_zero(candidates));
  }
  void serialize(Archive& archive) override { archive(random_); }

 private:
  Random random_;
};

}  // namespace

PolicyRegistry<ReplacementFactory>::Row random_replacement() {
  return {"random",
          "any line of the set goes",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<Replacement> {
            return std::make_unique<RandomReplacement>(setup);
          }}};
}

}  // namespace lockstep
