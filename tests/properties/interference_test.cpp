/// Policies against interference whose parts stand in SMs, partitions, GMMU and coordinator: the
/// bytes are right, and all counts are the same in any layout and across a checkpoint.
#include <gtest/gtest.h>

#include "tests/properties/going_on.hpp"

namespace lockstep::testing::interference_test {
namespace {

struct Selection {
  const char* name;
  std::vector<std::string> settings;
};

const std::vector<Selection>& selections() {
  static const std::vector<Selection> all = {
      {"medic",
       {"policies.cache_policy={name: medic, resample: 2000, profile: 4}",
        "policies.dram_scheduler=medic"}},
      {"medic_with_reuse_and_write_through",
       {"policies.cache_policy={name: medic, resample: 3000, profile: 8, reuse: true}",
        "gpu.memory.l2.write=through"}},
      {"random", {"policies.cache_policy={name: random, period: 1500}"}},
      {"pc_bypass", {"policies.cache_policy={name: pc-bypass, period: 3000, profile: 4}"}},
      {"pcal", {"policies.cache_policy={name: pcal, tokens: 2, period: 1500}"}},
      {"eaf", {"policies.cache_policy={name: eaf, recent: 4}"}},
      {"mask",
       {"policies.tlb_fill={name: mask, epoch: 2000, entries: 2}", "gpu.vm.l2_tlb.entries=8",
        "policies.cache_policy={name: mask, epoch: 1500, least: 4, probe: 3}",
        "policies.dram_scheduler={name: mask, golden: 2}", "policies.page_manager=base-pages"}},
      {"medic_and_mask",
       {"policies.tlb_fill={name: mask, epoch: 2000, entries: 2, token_rule: hill-climb}",
        "gpu.vm.l2_tlb.entries=8", "gpu.vm.memory_latency=9",
        "policies.cache_policy={name: medic, resample: 2000, profile: 4, walks: true, "
        "walk_levels: {epoch: 1500, least: 4, probe: 3}}",
        "policies.dram_scheduler=medic-mask",
        "policies.page_manager={name: base-pages, frames: random}"}},
  };
  return all;
}

class Interference : public ::testing::TestWithParam<Selection> {
 protected:
  void SetUp() override {
    bench = MachineBench::shipped("histogram", "{n: 16384, block: 128, blocks: 8}",
                                  GetParam().settings);
    expected = bench->run({});
    ASSERT_EQ(expected.problem, "");
  }

  std::unique_ptr<MachineBench> bench;
  MachineResult expected;
};

TEST_P(Interference, DoesTheSameInAnyLayout) {
  for (const Layout& layout : other_layouts()) {
    const MachineResult got = bench->run(layout);
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(bench->compare_statistics(expected, got), "") << layout.text();
  }
}

TEST_P(Interference, GoesOnFromACheckpoint) {
  for (const unsigned windows : {30u, 200u})
    expect_to_go_on(*bench, expected, Layout::interrupted(windows), windows,
                    Layout::random(windows));
}

INSTANTIATE_TEST_SUITE_P(Selected, Interference, ::testing::ValuesIn(selections()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace lockstep::testing::interference_test
