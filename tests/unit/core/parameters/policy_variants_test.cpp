/// What contract tests try of each registered policy.
#include "tests/harness/policy_variants.hpp"

#include <gmock/gmock.h>

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

TEST(PolicyVariants, AreTheUsualParametersAndEachOtherWord) {
  EXPECT_THAT(policy_variants(policies()),
              testing::ElementsAre("plain", "tree", "cache", "{name: cache, write: through}"));
}

TEST(PolicyVariants, CanBeChosenWithParametersOfTheirOwn) {
  std::vector<std::string> names;
  for (const std::string& variant : policy_variants(policies())) {
    const PolicyChoice choice =
        read_parameters<Chosen>(parse_document("policy: " + variant, "test")).policy;
    names.push_back(variant_name(variant));
    if (choice.name() == "tree") {
      EXPECT_EQ(choice.parameters<TreeParameters>().threshold, 0.5);
    }
    if (choice.name() == "cache") {
      EXPECT_EQ(choice.parameters<CacheParameters>().mshrs, 64u);
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("plain", "tree", "cache", "namecachewritethrough"));
}

}  // namespace
}  // namespace lockstep::policy_variants_test
