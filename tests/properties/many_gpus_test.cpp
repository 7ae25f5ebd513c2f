/// Random programs, whose managed memory may be more than there is, on several GPUs behind shared
/// uplinks: each computes what the interpreter computes, in any layout, and through checkpoints.
#include <gtest/gtest.h>

#include "models/gpu/placement/placement.hpp"
#include "models/host/host.hpp"
#include "tests/properties/machine_bench.hpp"
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
    settings_ = random_paged_machine(seed, tenants);
    settings_.push_back(has_two ? "gpus=2" : "gpus=3");
    const std::vector<std::string> uplinks{"[]", "[{gpus: [0, 1], bandwidth: 4GB/s}]",
                                           "[{gpus: [1], bandwidth: 9GB/s}]"};
    settings_.push_back("host.uplinks=" + uplinks[seed % uplinks.size()]);
    const auto& rows = placements().rows();
    settings_.push_back("policies.placement=" + rows[seed % rows.size()].name);
    settings_.push_back("simulation.record_faults=true");
    for (unsigned t = 0; t < tenants; ++t) {
      const RandomProgram program(seed * 100 + t);
      const std::uint64_t gpu = (seed + t) % (has_two ? 2 : 3);
      applications_.push_back({program.ptx(), with_managed_memory(program.workload(), seed + t),
                               t == 2 ? "" : "gpu: " + std::to_string(gpu)});
    }
  }

  const std::vector<std::string>& settings() const { return settings_; }
  std::unique_ptr<MachineBench> make() const {
    return std::make_unique<MachineBench>(applications_, settings_);
  }

 private:
  std::vector<std::string> settings_;
  std::vector<MachineBench::Application> applications_;
};

TEST(ManyGpus, AnyLayoutCountsTheSame) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(12);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomGpus gpus(seed);
    SCOPED_TRACE(describe(seed, Layout{}, gpus.settings()));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = gpus.make();
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    std::vector<Layout> layouts = other_layouts();
    layouts.push_back(Layout::random(seed));
    for (const Layout& layout : layouts) {
      const MachineResult got = bench->run(layout);
      ASSERT_EQ(got.problem, "") << layout.text();
      EXPECT_EQ(bench->compare_statistics(expected, got), "") << layout.text();
      EXPECT_EQ(got.faults, expected.faults) << layout.text();
    }
  }
}

TEST(ManyGpus, AnInterruptionChangesNothing) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(12);
  unsigned met = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomGpus gpus(seed);
    SCOPED_TRACE(describe(seed, Layout{}, gpus.settings()));
    const HangGuard guard("seed " + std::to_string(seed));
    const auto bench = gpus.make();
    const MachineResult expected = bench->run(Layout{});
    ASSERT_EQ(expected.problem, "");
    unsigned meetings = 2;
    const MachineResult got = bench->run_interrupted(
        Layout::interrupted(seed),
        [&](const Host& host) {
          bool waits = false;
          for (std::size_t part = 0; part < host.part_count(); ++part)
            waits |= !host.part(part).managed().waiting_for().empty();
          return waits && --meetings == 0;
        },
        Layout::random(seed + 1));
    ASSERT_EQ(got.problem, "");
    EXPECT_EQ(bench->compare_statistics(expected, got), "");
    EXPECT_EQ(got.faults, expected.faults);
    met += got.interrupted;
  }
  EXPECT_GT(met, 0u) << "pages were never waited for";
}

}  // namespace
}  // namespace lockstep::testing::many_gpus_test
