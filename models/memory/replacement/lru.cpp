/// Least recently used.
///
/// Source: 004, Tables 4.1, 6.1 and 7.1 (L2 of the baselines).  The order of use is kept in the tag
/// array (models/memory/l2/l2_tags.hpp), which also finds the oldest line of a whole set: this
/// object is asked only where a cache policy restricts the candidates.
#include <bit>

#include "models/memory/replacement/replacement.hpp"

namespace lockstep {
namespace {

class Lru final : public Replacement {
 public:
  Lru() : Replacement(0) {}

  std::uint32_t victim(std::uint32_t, std::uint32_t, std::span<const CacheWay> ways,
                       std::uint64_t candidates) override {
    auto oldest = static_cast<std::uint32_t>(std::countr_zero(candidates));
    for (std::uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const auto way = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (ways[way].last_use < ways[oldest].last_use) oldest = way;
    }
    return oldest;
  }
};

}  // namespace

PolicyRegistry<ReplacementFactory>::Row lru_replacement() {
  return {"lru",
          "the least recently used line goes",
          {[](const PartitionPolicySetup&) -> std::unique_ptr<Replacement> {
            return std::make_unique<Lru>();
          }},
          nullptr,
          [](const PolicyChoice&) {
            return PolicyTraits{{orders_lines}, {}};
          }};
}

}  // namespace lockstep
