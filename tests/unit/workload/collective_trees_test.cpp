/// The two trees of a collective reach all GPUs from the first one, and none has the work of an
/// inner node in both.
#include <gtest/gtest.h>

#include <bit>

#include "models/workload/collective_steps.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_gpus = 70;

std::size_t steps_to_root(const std::vector<TreePlace>& tree, std::size_t gpu) {
  std::size_t steps = 0;
  while (tree[gpu].parent && steps <= tree.size()) {
    gpu = *tree[gpu].parent;
    ++steps;
  }
  EXPECT_EQ(gpu, 0u);
  return steps;
}

TEST(CollectiveTrees, LeadFromTheFirstGpuToAllOthers) {
  for (std::size_t gpus = 2; gpus <= most_gpus; ++gpus)
    for (const std::vector<TreePlace>& tree : two_trees(gpus)) {
      ASSERT_EQ(tree.size(), gpus);
      EXPECT_FALSE(tree[0].parent);
      EXPECT_EQ(tree[0].children.size(), 1u);
      for (std::size_t gpu = 1; gpu < gpus; ++gpu)
        EXPECT_LE(steps_to_root(tree, gpu), static_cast<std::size_t>(std::bit_width(gpus - 1)));
    }
}

TEST(CollectiveTrees, ParentsAndChildrenKnowEachOther) {
  for (std::size_t gpus = 2; gpus <= most_gpus; ++gpus)
    for (const std::vector<TreePlace>& tree : two_trees(gpus))
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        EXPECT_LE(tree[gpu].children.size(), 2u);
        for (std::size_t k = 0; k < tree[gpu].children.size(); ++k) {
          EXPECT_EQ(tree[tree[gpu].children[k]].parent, gpu);
          EXPECT_EQ(tree[tree[gpu].children[k]].child, k);
        }
      }
}

TEST(CollectiveTrees, GiveNoGpuButTheFirstChildrenInBoth) {
  for (std::size_t gpus = 2; gpus <= most_gpus; ++gpus) {
    const CollectiveTrees trees = two_trees(gpus);
    for (std::size_t gpu = 1; gpu < gpus; ++gpu)
      EXPECT_TRUE(trees[0][gpu].children.empty() || trees[1][gpu].children.empty());
  }
}

TEST(CollectiveTrees, OfFourGpus) {
  const CollectiveTrees trees = two_trees(4);
  EXPECT_EQ(trees[0][0].children, std::vector<std::size_t>{2});
  EXPECT_EQ(trees[0][2].children, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(trees[1][0].children, std::vector<std::size_t>{1});
  EXPECT_EQ(trees[1][1].children, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(most_children(trees), 2u);
  EXPECT_EQ(most_children(two_trees(3)), 1u);
}

}  // namespace
}  // namespace lockstep
