/// Static re-reference interval prediction (SRRIP): a line that comes in is expected again after a
/// long time, so that a scan does not push out lines that are in use.
///
/// Source: Jaleel et al., ISCA 2010, section 4.2 (SRRIP with hit priority).
#include "core/parameters/parameters.hpp"
#include "models/memory/replacement/replacement.hpp"
#include "models/memory/replacement/rereference.hpp"

namespace lockstep {
namespace {

struct SrripParameters {
  std::uint32_t bits = 0;
  static auto schema() {
    return parameters<SrripParameters>().field("bits", &SrripParameters::bits, 2, range(1, 7),
                                               "bits of a line's re-reference interval", "bits");
  }
};

class Srrip final : public Replacement {
 public:
  explicit Srrip(const PartitionPolicySetup& setup)
      : Replacement(uses | installs | chooses),
        intervals_(sets_of_partition(setup.parameters.l2), setup.parameters.l2.ways,
                   setup.choice.parameters<SrripParameters>().bits) {}

  void on_use(const CachePlace& place, const MemoryRequest&) override { intervals_.use(place); }
  void on_install(const CachePlace& place, const MemoryRequest&, CachePosition position) override {
    intervals_.install(place, intervals_.interval(position, intervals_.long_interval()));
  }
  std::uint32_t victim(std::uint32_t set, std::uint32_t, std::span<const CacheWay>,
                       std::uint64_t candidates) override {
    return intervals_.victim(set, candidates);
  }
  void serialize(Archive& archive) override { archive(intervals_); }

 private:
  RereferenceIntervals intervals_;
};

}  // namespace

PolicyRegistry<ReplacementFactory>::Row srrip_replacement() {
  return {"srrip",
          "lines that come in go before lines that were used again (Jaleel et al. 2010)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<Replacement> {
            return std::make_unique<Srrip>(setup);
          }},
          &schema_of<SrripParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{orders_lines}, {}};
          }};
}

}  // namespace lockstep
