#include "models/dispatch/sharing/sharing.hpp"

#include "tests/harness/policy_named.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep::sharing_test {
namespace {

using testing::HasSubstr;

std::unique_ptr<Sharing> spatial(std::uint32_t sms, const std::vector<std::uint32_t>& asked) {
  return make_sharing(policy_named(sharing_policies(), "spatial"), {sms, asked});
}

/// Who owns each SM: "aabb".
std::string owners(std::uint32_t sms, const std::vector<std::uint32_t>& asked) {
  const auto policy = spatial(sms, asked);
  std::vector<GridView> grids;
  for (std::size_t t = 0; t < asked.size(); ++t) {
    grids.push_back({GridId{static_cast<std::uint32_t>(t)}, TenantId{static_cast<std::uint16_t>(t)},
                     0, true, 1, 0});
  }
  std::string text;
  for (std::uint16_t sm = 0; sm < sms; ++sm) {
    const auto choice = policy->choose(grids, SmId{sm});
    text += choice ? static_cast<char>('a' + *choice) : '-';
  }
  return text;
}

TEST(SpatialSharing, TenantsGetTheSmsTheyAskFor) {
  EXPECT_EQ(owners(8, {3, 5}), "aaabbbbb");
  EXPECT_EQ(owners(8, {2, 3}), "aabbb---");
}

TEST(SpatialSharing, TheRestIsSplitEqually) {
  EXPECT_EQ(owners(8, {0, 0}), "aaaabbbb");
  EXPECT_EQ(owners(8, {0, 2, 0}), "aaabbccc");
}

TEST(SpatialSharing, FirstTenantsGetWhatIsLeftOver) {
  EXPECT_EQ(owners(8, {0, 0, 0}), "aaabbbcc");
}

TEST(SpatialSharing, TenantAloneHasAsManySmsAsInItsPart) {
  const auto policy = spatial(8, {0, 2, 0});
  EXPECT_EQ(policy->sms_of(TenantId{0}), 3u);
  EXPECT_EQ(policy->sms_of(TenantId{1}), 2u);
}

/// Kernels that have so many blocks running, each of which takes such a share of an SM.
std::optional<std::size_t> next_by_share(
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& kernels) {
  std::vector<GridView> grids;
  for (std::uint32_t g = 0; g < kernels.size(); ++g)
    grids.push_back({GridId{g}, TenantId{static_cast<std::uint16_t>(g)}, 0, true, 1,
                     kernels[g].first, kernels[g].second});
  const auto policy = make_sharing(policy_named(sharing_policies(), "smk"), {8, {0, 0}});
  return policy->choose(grids, SmId{0});
}

TEST(SimultaneousMultikernel, TheNextPlaceIsForTheSmallestDominantShare) {
  EXPECT_EQ(next_by_share({{4, 100}, {3, 120}}), 1u) << "400 and 360";
  EXPECT_EQ(next_by_share({{4, 100}, {4, 120}}), 0u);
  EXPECT_EQ(next_by_share({{4, 100}, {2, 200}}), 0u) << "who came first";
  EXPECT_EQ(next_by_share({{4, 100}, {0, 900}}), 1u) << "one that has just come";
}

TEST(SimultaneousMultikernel, TheDominantShareIsOfWhatABlockTakesMostOf) {
  const OccupancyLimits limits;  // 2048 threads, 32 blocks, 65536 registers, 96 KiB
  BlockResources block;
  block.blocks = 1;
  EXPECT_EQ(block.dominant_share(limits), BlockResources::whole / 32);
  block.registers = 16384;
  EXPECT_EQ(block.dominant_share(limits), BlockResources::whole / 4);
  block.shared_bytes = 49152;
  EXPECT_EQ(block.dominant_share(limits), BlockResources::whole / 2);
}

TEST(ExclusiveSharing, TenantAloneHasTheWholeGpu) {
  const auto policy = make_sharing(policy_named(sharing_policies(), "exclusive"), {8, {2, 0}});
  EXPECT_EQ(policy->sms_of(TenantId{0}), 8u);
}

TEST(SpatialSharing, MoreSmsThanTheGpuHasAreAnError) {
  EXPECT_THAT(message_of([] {
                spatial(4, {3, 2});
              }),
              HasSubstr("the tenants need at least 5 SMs, the GPU has 4"));
  EXPECT_THAT(message_of([] { spatial(4, {4, 0}); }), HasSubstr("at least 5 SMs"));
}

TEST(SpatialSharing, BlocksStayOnTheirTenantsSms) {
  DispatcherBench bench({.sms = 4, .sharing = "spatial", .sms_per_tenant = {1, 3}});
  bench.launch(0, {.grid = 1, .blocks = 4, .tenant = 0});
  bench.launch(1, {.grid = 2, .blocks = 4, .tenant = 1});
  bench.run_until(1000);
  // Tenant 0: two blocks run on SM 0, one is staged.
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm1:2.0 sm2:2.1 sm3:2.2 sm0:1.1 sm1:2.3 sm0:1.2");
}

TEST(SpatialSharing, LaterKernelOfATenantFillsWhatIsLeft) {
  DispatcherBench bench({.sms = 1, .sharing = "spatial", .sms_per_tenant = {0}});
  bench.launch(0, {.grid = 1, .blocks = 1});
  bench.launch(0, {.grid = 2, .blocks = 1, .stream = 1});
  bench.run_until(1000);
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm0:2.0");
}

TEST(ExclusiveSharing, SecondKernelWaitsForEveryBlockOfTheFirst) {
  DispatcherBench bench;
  bench.launch(0, {.grid = 1, .blocks = 2, .tenant = 0});
  bench.launch(1, {.grid = 2, .blocks = 1, .tenant = 1});
  bench.run_until(1000);
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm1:1.1");
  bench.block_done(1000, 1, 0, 0);
  bench.run_until(1100);
  EXPECT_EQ(bench.blocks(), "");
  bench.block_done(1100.5, 1, 1, 1);
  bench.run_until(1200);
  EXPECT_THAT(bench.sent(), testing::Contains("1101 sm2 block 2.0"));
}

TEST(ExclusiveSharing, KernelsRunInOrderOfArrival) {
  DispatcherBench bench({.sms = 1});
  for (const std::uint32_t grid : {5u, 3u, 4u}) bench.launch(grid == 5 ? 0 : grid, {.grid = grid});
  bench.run_until(1000);
  std::string order;
  double now = 1000;
  for (const std::uint32_t grid : {5u, 3u, 4u}) {
    order += bench.blocks() + " ";
    bench.block_done(now, grid, 0, 0);
    bench.run_until(now += 100);
  }
  EXPECT_EQ(order, "sm0:5.0 sm0:3.0 sm0:4.0 ");
}

TEST(ExclusiveSharing, LaunchLatencyOfTheNextKernelIsHiddenBehindTheOneBefore) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1});
  bench.launch(10, {.grid = 2});
  bench.run_until(500);
  bench.block_done(500, 1, 0, 0);
  bench.sent();
  bench.run_until(600);
  EXPECT_THAT(bench.sent(), testing::Contains("500 sm0 block 2.0"));
}

TEST(ExclusiveSharing, NothingOfTheNextKernelIsStaged) {
  DispatcherBench bench({.sms = 1});
  bench.launch(0, {.grid = 1, .blocks = 2});
  bench.launch(0, {.grid = 2, .blocks = 1});
  bench.run_until(1000);
  EXPECT_EQ(bench.blocks(), "sm0:1.0 sm0:1.1");
}

}  // namespace
}  // namespace lockstep::sharing_test
