/// Random programs, whose managed memory may be more than there is, on several GPUs behind shared
/// uplinks: each computes what the interpreter computes, in any layout, and through checkpoints.
#include "models/gpu/placement/placement.hpp"
#include "tests/properties/any_layout.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing::many_gpus_test {
namespace {

/// Three tenants on two or three GPUs, of which some or none share uplinks.
class RandomGpus {
 public:
  explicit RandomGpus(std::uint64_t seed) {
    constexpr unsigned tenants = 3;
    const bool has_two = seed % 2 == 0;
    settings = random_paged_machine(seed, tenants);
    settings.push_back(has_two ? "gpus=2" : "gpus=3");
    const std::vector<std::string> uplinks{"[]", "[{gpus: [0, 1], bandwidth: 4GB/s}]",
                                           "[{gpus: [1], bandwidth: 9GB/s}]"};
    settings.push_back("host.uplinks=" + uplinks[seed % uplinks.size()]);
    const auto& rows = placements().rows();
    settings.push_back("policies.placement=" + rows[seed % rows.size()].name);
    settings.push_back("simulation.record_faults=true");
    for (unsigned t = 0; t < tenants; ++t) {
      const RandomProgram program(seed * 100 + t);
      const std::uint64_t gpu = (seed + t) % (has_two ? 2 : 3);
      applications_.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t),
                               t == 2 ? "" : "gpu: " + std::to_string(gpu)});
    }
  }

  std::vector<std::string> settings;

  std::unique_ptr<MachineBench> make() const {
    return std::make_unique<MachineBench>(applications_, settings);
  }

 private:
  std::vector<MachineBench::Application> applications_;
};

TEST(ManyGpus, AnyLayoutCountsTheSame) {
  expect_same_in_any_layout<RandomGpus>(12);
}

TEST(ManyGpus, AnInterruptionChangesNothing) {
  const auto met = expect_same_when_interrupted<RandomGpus>(
      12, [](std::uint64_t) { return when_pages_are_awaited(2); });
  EXPECT_GT(met, 0u) << "pages were never waited for";
}

}  // namespace
}  // namespace lockstep::testing::many_gpus_test
