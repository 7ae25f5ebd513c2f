/// What contract tests try of each registered policy.
#include "tests/harness/policy_variants.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/parameters/document.hpp"
#include "tests/unit/core/parameters/sample.hpp"

namespace lockstep::policy_variants_test {
namespace {

using sample::CacheParameters;
using sample::TreeParameters;

const PolicyList& policies() {
  static const PolicyList list{{"plain", "takes none", nullptr},
                               {"tree", "takes a number", &schema_of<TreeParameters>()},
                               {"cache", "takes a word, too", &schema_of<CacheParameters>()}};
  return list;
}

struct Chosen {
  PolicyChoice policy;
  static auto schema() {
    return parameters<Chosen>().policy("policy", &Chosen::policy, "plain", policies, "under test");
  }
};

TEST(PolicyVariants, AreTheUsualParametersAndOtherValuesOfEach) {
  EXPECT_THAT(policy_variants(policies()),
              testing::ElementsAre(
                  "plain", "tree", "{name: tree, threshold: 0}", "{name: tree, threshold: 0.25}",
                  "{name: tree, threshold: 1}", "cache", "{name: cache, size: 4KiB}",
                  "{name: cache, size: 48KiB}", "{name: cache, size: 192KiB}",
                  "{name: cache, hit_latency: 1}", "{name: cache, hit_latency: 15}",
                  "{name: cache, hit_latency: 60}", "{name: cache, mshrs: 1}",
                  "{name: cache, mshrs: 32}", "{name: cache, mshrs: 128}",
                  "{name: cache, write: through}", "{name: cache, sectored: false}"));
}

TEST(PolicyVariants, WithWordsOnlyAreFewer) {
  EXPECT_THAT(worded_variants(policies()),
              testing::ElementsAre("plain", "tree", "cache", "{name: cache, write: through}"));
}

struct Pair {
  std::uint32_t low, high;
  static auto schema() {
    using P = Pair;
    return parameters<P>()
        .field("low", &P::low, 3, range(1, 9), "the smaller one")
        .field("high", &P::high, 4, range(1, 9), "the larger one")
        .check([](const P& p) -> std::string {
          return p.low < p.high ? "" : "low is not below high - lower it";
        });
  }
};

TEST(PolicyVariants, WhatThePolicyRefusesIsLeftOut) {
  const PolicyList pairs{{"pair", "takes two", &schema_of<Pair>()}};
  EXPECT_THAT(policy_variants(pairs),
              testing::ElementsAre("pair", "{name: pair, low: 1}", "{name: pair, high: 8}"));
}

TEST(PolicyVariants, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const std::string& variant : policy_variants(policies()))
    EXPECT_TRUE(names.insert(variant_name(variant)).second) << variant;
}

TEST(PolicyVariants, CanBeChosenWithParametersOfTheirOwn) {
  std::vector<std::string> names;
  for (const std::string& variant : policy_variants(policies())) {
    const PolicyChoice choice =
        read_parameters<Chosen>(parse_document("policy: " + variant, "test")).policy;
    names.push_back(variant_name(variant));
    if (variant == "tree") {
      EXPECT_EQ(choice.parameters<TreeParameters>().threshold, 0.5);
    }
    if (variant == "{name: cache, mshrs: 32}") {
      EXPECT_EQ(choice.parameters<CacheParameters>().mshrs, 32u);
    }
  }
  EXPECT_THAT(names, testing::IsSupersetOf(
                         {"plain", "tree", "nametreethreshold0_25", "namecachewritethrough"}));
}

}  // namespace
}  // namespace lockstep::policy_variants_test
