/// A plan of techniques: what its file may say, and what becomes of the blocks.
/// Source: our choice.
#include "models/dispatch/victims/preemption_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep {
namespace {

PreemptionPlan plan(const std::string& text) {
  return read_preemption_plan(parse_document(text, "plan.yaml"));
}

TEST(PreemptionPlan, SaysTheTechniqueOfEachBlock) {
  const PreemptionPlan read = plan(
      "- {urgent: 12, others: drain, blocks: [[11, 5, flush], [11, 6, switch]]}\n"
      "- {urgent: 14, blocks: [[13, 0, drain]]}\n");
  EXPECT_EQ(read.of(12).of(11, 5), Technique::flush);
  EXPECT_EQ(read.of(12).of(11, 6), Technique::save);
  EXPECT_EQ(read.of(12).of(10, 5), Technique::drain) << "another kernel's block";
  EXPECT_EQ(read.of(14).of(13, 0), Technique::drain);
  EXPECT_EQ(read.of(14).of(13, 1), std::nullopt);
  EXPECT_EQ(read.of(13).of(11, 5), std::nullopt) << "no entry";
  EXPECT_EQ(plan("[]").of(12), PreemptionPlan::Request{});
}

TEST(PreemptionPlan, RefusesWhatItCannotFollow) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      plan(text);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("- {urgent: 1, others: wait}"), HasSubstr("plan.yaml:1:23: "));
  EXPECT_THAT(refusal("- {urgent: 1, others: wait}"), HasSubstr("'wait' is no technique"));
  EXPECT_THAT(refusal("- {urgent: 1, blocks: [[1, 2]]}"), HasSubstr("a block has three parts"));
  EXPECT_THAT(refusal("- {urgent: 1, blocks: [[1, 2, drain], [1, 2, flush]]}"),
              HasSubstr("plan.yaml:1:39: "));
  EXPECT_THAT(refusal("- {urgent: 1}\n- {urgent: 1}"), HasSubstr("plan.yaml:2:3: "));
  EXPECT_THAT(refusal("- {urgent: 5000000000}"), HasSubstr("is no number of a kernel"));
  EXPECT_THAT(refusal("- {urgent: 1, block: []}"), HasSubstr("block"));
  EXPECT_THAT(refusal("- {others: drain}"), HasSubstr("urgent"));
  EXPECT_THAT(refusal("drain"), HasSubstr("plan.yaml:1:1: "));
}

TEST(PlannedPreemption, FollowsThePlanAndOtherwiseTheEstimates) {
  const PreemptionMachine machine{Clock(Frequency{1e9}), {1'000'000'000}};
  KernelHistory finished;
  finished.add({{1000, 0}, 2000});
  const auto block = [](std::uint64_t number, std::uint64_t executed, bool idempotent) {
    return BlockStatus{number, {{executed, 0}, 2 * executed}, idempotent, 0, {}, 0};
  };
  const SmStatus sm{0,
                    7,
                    {block(1, 990, true), block(2, 990, true), block(3, 990, false),
                     block(4, 0, true), block(5, 500, true)}};
  VictimKernel kernel{&finished, {}, 100};
  const PreemptionPlan read = plan(
      "- {urgent: 9, blocks: [[7, 1, switch], [7, 2, flush], [7, 3, flush], [7, 4, drain], "
      "[8, 5, flush]]}");
  kernel.plan = &read.of(9);
  const auto policy = make_preemption(policy_named(preemption_policies(), "planned"));
  const Time bound{1'000'000'000};
  const SmRelease release = policy->decide(sm, kernel, machine, bound);
  std::vector<Technique> techniques;
  for (const SmRelease::Block& one : release.blocks) techniques.push_back(one.command.technique);
  EXPECT_THAT(techniques, ::testing::ElementsAre(Technique::save, Technique::flush, Technique::save,
                                                 Technique::drain, Technique::drain));
  EXPECT_EQ(release.blocks[0].latency, Time{100'000'000});
  EXPECT_EQ(release.blocks[1].overhead, 990u);
  EXPECT_EQ(release.blocks[3].latency, bound) << "nothing is known of a block that has not begun";
  EXPECT_EQ(release.blocks[4].latency, Time{1'000'000'000}) << "500 instructions of 2 ns";
}

}  // namespace
}  // namespace lockstep
