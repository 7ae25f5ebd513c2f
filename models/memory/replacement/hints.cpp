/// Least recently used, but the program's hints go before the order of use: `evict_first` lines
/// leave before others, `evict_last` lines after them.
///
/// Source: PTX ISA 8.x, "Cache Eviction Priority Hints"; NVIDIA A100 whitepaper (residency control:
/// up to three quarters of the L2 can be set aside for lines that shall stay).
///
/// An access without a hint, or with `evict_unchanged`, leaves a line its priority; a line that it
/// brings in is a normal one.
///
/// Own choice, since nothing is published: `evict_last` lines may hold a share of the ways of each
/// set.  Beyond that share, those used longest ago count as normal lines.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "models/noc/l2_priority_mark.hpp"

namespace lockstep {
namespace {

using isa::L2Priority;

struct HintsParameters {
  std::uint32_t set_aside = 0;
  static auto schema() {
    return parameters<HintsParameters>().field(
        "set_aside", &HintsParameters::set_aside, 75, range(0, 100),
        "share of each set's ways that lines with evict_last may keep", "%");
  }
};

class Hints final : public Replacement {
 public:
  explicit Hints(const PartitionPolicySetup& setup)
      : Replacement(uses | installs | chooses),
        ways_(setup.parameters.l2.ways),
        kept_(ways_ * setup.choice.parameters<HintsParameters>().set_aside / 100),
        priorities_(std::size_t{sets_of_partition(setup.parameters.l2)} * ways_,
                    L2Priority::normal) {}

  void on_use(const CachePlace& place, const MemoryRequest& request) override {
    const L2Priority priority = marked_priority(request);
    if (priority != L2Priority::unchanged) at(place) = priority;
  }
  void on_install(const CachePlace& place, const MemoryRequest& request, CachePosition) override {
    const L2Priority priority = marked_priority(request);
    at(place) = priority == L2Priority::unchanged ? L2Priority::normal : priority;
  }
  std::uint32_t victim(std::uint32_t set, std::uint32_t, std::span<const CacheWay> ways,
                       std::uint64_t candidates) override {
    auto victim = static_cast<std::uint32_t>(std::countr_zero(candidates));
    for (std::uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const auto way = static_cast<std::uint32_t>(std::countr_zero(rest));
      const unsigned mine = turn(set, ways, way), best = turn(set, ways, victim);
      if (mine < best || (mine == best && ways[way].last_use < ways[victim].last_use)) victim = way;
    }
    return victim;
  }
  void serialize(Archive& archive) override { archive(priorities_); }

 private:
  L2Priority& at(const CachePlace& place) {
    return priorities_[std::size_t{place.set} * ways_ + place.way];
  }
  /// Returns the turn in which a line leaves: lines of turn 0 leave first, then 1, then 2.
  unsigned turn(std::uint32_t set, std::span<const CacheWay> ways, std::uint32_t way) const {
    const L2Priority* of_set = &priorities_[std::size_t{set} * ways_];
    if (of_set[way] != L2Priority::last) return of_set[way] == L2Priority::first ? 0 : 1;
    std::uint32_t later = 0;  // lines to be kept that were used later
    for (std::uint32_t other = 0; other < ways.size(); ++other)
      later += of_set[other] == L2Priority::last && ways[other].last_use > ways[way].last_use;
    return later < kept_ ? 2 : 1;
  }

  const std::uint32_t ways_, kept_;
  std::vector<L2Priority> priorities_;  ///< priority of each way, set by set
};

}  // namespace

PolicyRegistry<ReplacementFactory>::Row hints_replacement() {
  return {"hints",
          "lines leave by the eviction priorities of PTX, then the least recently used one",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<Replacement> {
            return std::make_unique<Hints>(setup);
          }},
          &schema_of<HintsParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{orders_lines, honours_hints}, {}};
          }};
}

}  // namespace lockstep
