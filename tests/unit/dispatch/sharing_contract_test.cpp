/// What every registered sharing policy must keep: it names grids that are ready and have blocks
/// waiting, on SMs that the tenant may use; every grid comes to its end; and it chooses the same
/// after saving and restoring, wherever its objects lie.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <sstream>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/dispatch/sharing/sharing.hpp"
#include "tests/harness/policy_variants.hpp"

namespace lockstep::test::sharing_contract_test {
namespace {

constexpr std::uint32_t sm_count = 6;
constexpr std::uint16_t tenant_count = 3;

struct Chosen {
  PolicyChoice sharing;
  static auto schema() {
    return parameters<Chosen>().policy("sharing", &Chosen::sharing, "exclusive", sharing_policies,
                                       "the one under test");
  }
};

/// SMs with room for two blocks each ask for work; grids of all tenants come and become ready,
/// and blocks end, all drawn from a seed.
class Gpu {
 public:
  Gpu(const std::string& policy, unsigned seed)
      : policy_(make_sharing(
            read_parameters<Chosen>(parse_document("sharing: " + policy, "test")).sharing,
            {sm_count, std::vector<std::uint32_t>(tenant_count, 0)})),
        random_(seed) {}

  Sharing& policy() { return *policy_; }
  void launch() {
    const auto number = static_cast<std::uint32_t>(launched_++);
    grids_.push_back({GridId{number},
                      TenantId{static_cast<std::uint16_t>(random_() % tenant_count)},
                      static_cast<std::uint32_t>(random_() % 3), false, 1 + random_() % 9, 0});
  }
  /// One SM asks; what was chosen, or nothing.
  std::optional<GridId> ask() {
    for (GridView& grid : grids_) grid.ready = grid.ready || random_() % 4 == 0;
    const auto sm = static_cast<std::uint16_t>(random_() % sm_count);
    const std::optional<std::size_t> choice = policy_->choose(grids_, SmId{sm});
    if (!choice) return std::nullopt;
    GridView& grid = grids_.at(*choice);
    EXPECT_TRUE(grid.ready) << "grid " << grid.grid.value();
    EXPECT_GT(grid.blocks_waiting, 0u) << "grid " << grid.grid.value();
    sms_[grid.tenant.value()].insert(sm);
    if (running_[sm].size() == 2) return std::nullopt;
    --grid.blocks_waiting;
    ++grid.blocks_running;
    running_[sm].push_back(grid.grid);
    return grid.grid;
  }
  /// A block of one SM ends.
  void end_block() {
    std::vector<GridId>& running = running_[random_() % sm_count];
    if (running.empty()) return;
    const GridId number = running.front();
    running.erase(running.begin());
    for (auto grid = grids_.begin(); grid != grids_.end(); ++grid) {
      if (grid->grid != number) continue;
      if (--grid->blocks_running + grid->blocks_waiting == 0) grids_.erase(grid);
      return;
    }
  }
  bool done() const { return grids_.empty(); }
  std::size_t sms_used(std::uint16_t tenant) const { return sms_[tenant].size(); }

 private:
  std::unique_ptr<Sharing> policy_;
  std::mt19937 random_;
  std::vector<GridView> grids_;
  std::size_t launched_ = 0;
  std::array<std::vector<GridId>, sm_count> running_;
  std::array<std::set<std::uint16_t>, tenant_count> sms_;
};

class SharingContract : public testing::TestWithParam<std::string> {};

TEST_P(SharingContract, EveryGridComesToItsEndOnSmsOfItsTenant) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Gpu gpu(GetParam(), seed);
    for (int i = 0; i < 30; ++i) gpu.launch();
    int steps = 0;
    for (; !gpu.done() && steps < 100'000; ++steps) {
      gpu.ask();
      if (steps % 2 == 0) gpu.end_block();
    }
    EXPECT_TRUE(gpu.done()) << "seed " << seed;
    for (std::uint16_t tenant = 0; tenant < tenant_count; ++tenant)
      EXPECT_LE(gpu.sms_used(tenant), gpu.policy().sms_of(TenantId{tenant}));
  }
}

TEST_P(SharingContract, EveryTenantHasAnSmAndNoneMoreThanThereAre) {
  Gpu gpu(GetParam(), 1);
  for (std::uint16_t tenant = 0; tenant < tenant_count; ++tenant) {
    EXPECT_GE(gpu.policy().sms_of(TenantId{tenant}), 1u);
    EXPECT_LE(gpu.policy().sms_of(TenantId{tenant}), sm_count);
  }
}

/// The second policy is restored from the first one now and then, and lies elsewhere.
TEST_P(SharingContract, RestoredPolicyChoosesTheSame) {
  Gpu one(GetParam(), 5);
  const auto between = std::make_unique<std::vector<char>>(54'321);
  Gpu other(GetParam(), 5);
  for (int step = 0; step < 3000; ++step) {
    if (step % 20 == 0) {
      one.launch();
      other.launch();
    }
    ASSERT_EQ(one.ask(), other.ask()) << "step " << step;
    one.end_block();
    other.end_block();
    if (step % 100 != 50) continue;
    std::stringstream bytes;
    Archive saving = Archive::saving(bytes);
    one.policy().serialize(saving);
    Archive restoring = Archive::restoring(bytes);
    other.policy().serialize(restoring);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SharingContract,
                         testing::ValuesIn(policy_variants(sharing_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::test::sharing_contract_test
