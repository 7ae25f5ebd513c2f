#include "core/parameters/suggest.hpp"

#include <gtest/gtest.h>

namespace lockstep::suggest_test {
namespace {

TEST(Suggest, OneLetterOfAShortWordMayBeWrongMissingTooManyOrSwapped) {
  for (const char* slip : {"gtp", "gt", "gtoo", "got"})
    EXPECT_TRUE(is_slip_of(slip, "gto")) << slip;
  for (const char* other : {"rr", "gxx", "lru", ""})
    EXPECT_FALSE(is_slip_of(other, "gto")) << other;
}

TEST(Suggest, AThirdOfALongWordMayBeWrong) {
  EXPECT_TRUE(is_slip_of("requezt_latancy", "request_latency"));
  EXPECT_FALSE(is_slip_of("reply_bandwidth", "request_latency"));
}

TEST(Suggest, TheNearestWordIsNamedWithTheOthers) {
  const std::vector<std::string> known{"exclusive", "spatial"};
  EXPECT_EQ(nearest("spacial", known), "spatial");
  EXPECT_EQ(nearest("zzzzzzzz", known), "");
  EXPECT_EQ(suggest("spacial", known), "did you mean \"spatial\"? (exclusive, spatial)");
  EXPECT_EQ(suggest("zzzzzzzz", known), "known are (exclusive, spatial)");
  EXPECT_EQ(suggest("x", {}), "remove it: nothing is known here");
}

}  // namespace
}  // namespace lockstep::suggest_test
