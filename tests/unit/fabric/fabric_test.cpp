/// Ways between GPUs, as a scenario gives them.
#include "models/fabric/fabric.hpp"

#include <gmock/gmock.h>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"

namespace lockstep::test::fabric_test {
namespace {

using testing::HasSubstr;

Fabric fabric(const std::string& text, std::size_t gpus = 4) {
  return {parse_document("{name: test, rate: 20GB/s, " + text + "}", "f.yaml"), gpus};
}

std::string refusal(const std::string& text, std::size_t gpus = 4) {
  try {
    fabric(text, gpus);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Fabric, SwitchJoinsAllWithEachOther) {
  const Fabric all = fabric("kind: switch");
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = 0; b < 4; ++b) EXPECT_EQ(all.has_way(a, b), a != b);
}

TEST(Fabric, DirectLinksJoinThePairsThatAreNamed) {
  const Fabric some = fabric("kind: direct, pairs: [{gpus: [0, 1], links: 2}, {gpus: [3, 2]}]");
  EXPECT_TRUE(some.has_way(0, 1));
  EXPECT_TRUE(some.has_way(1, 0));
  EXPECT_TRUE(some.has_way(2, 3));
  EXPECT_FALSE(some.has_way(1, 2));
  EXPECT_EQ(some.rate(1, 0), 40e9) << "rates of several links add up";
  EXPECT_EQ(some.rate(2, 3), 20e9);
}

TEST(Fabric, LinksOfAGpuAreThoseOfItsPortOrOfItsPairs) {
  EXPECT_EQ(fabric("kind: switch").links_of(1), 1u);
  EXPECT_EQ(fabric("kind: switch, links: 12").links_of(1), 12u);
  EXPECT_EQ(fabric("kind: direct").links_of(1), 3u);
  const Fabric some = fabric("kind: direct, pairs: [{gpus: [0, 1], links: 2}, {gpus: [1, 2]}]");
  EXPECT_EQ(some.links_of(1), 3u);
  EXPECT_EQ(some.links_of(3), 0u);
}

TEST(Fabric, WithoutPairsAnyTwoHaveALink) {
  EXPECT_TRUE(fabric("kind: direct").has_way(3, 0));
}

TEST(Fabric, MistakesAreToldWhereTheyStand) {
  EXPECT_THAT(refusal("kind: switch", 1), HasSubstr("the machine has one"));
  EXPECT_THAT(refusal("kind: direct, pairs: [{gpus: [0, 4]}]"), HasSubstr("GPU 4 is not there"));
  EXPECT_THAT(refusal("kind: direct, pairs: [{gpus: [0, 0]}]"), HasSubstr("joins two GPUs"));
  EXPECT_THAT(refusal("kind: direct, pairs: [{gpus: [0, 1, 2]}]"), HasSubstr("joins two GPUs"));
  EXPECT_THAT(refusal("kind: direct, pairs: [{gpus: [0, 1]}, {gpus: [1, 0], links: 3}]"),
              HasSubstr("are named twice"));
  EXPECT_THAT(refusal("kind: direct, pairs: [{gpus: [0, 1], rate: 30GB/s}]"), HasSubstr("rate"));
}

}  // namespace
}  // namespace lockstep::test::fabric_test
