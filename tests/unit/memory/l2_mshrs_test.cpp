#include "models/memory/l2/l2_mshrs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lockstep::l2_mshrs_test {
namespace {

/// Few buckets for many lines, so that entries share buckets and leave them in every order.
TEST(L2Mshrs, FindsExactlyTheLinesThatAreOwed) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    L2Mshrs mshrs(8);
    std::map<std::uint32_t, std::uint32_t> owed;
    for (int step = 0; step < 2000; ++step) {
      const auto line = static_cast<std::uint32_t>(random() % 60);
      const auto known = owed.find(line);
      ASSERT_EQ(mshrs.find(line), known == owed.end() ? L2Mshrs::none : known->second)
          << "seed " << seed << " step " << step;
      if (known != owed.end()) {
        mshrs.release(known->second);
        owed.erase(known);
      } else if (!mshrs.full()) {
        owed[line] = mshrs.allocate(line);
      }
      ASSERT_EQ(mshrs.used(), owed.size());
      ASSERT_EQ(mshrs.full(), owed.size() == 8);
    }
  }
}

}  // namespace
}  // namespace lockstep::l2_mshrs_test
