/// Keys that had another name in earlier versions.
#include "core/parameters/renamed_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"

namespace lockstep::renamed_keys_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Parameters {
  std::uint32_t groups;

  static auto schema() {
    using P = Parameters;
    return parameters<P>()
        .field("groups", &P::groups, 1, range(1, 64), "groups that work side by side")
        .formerly("clusters");
  }
};

class RenamedKeys : public testing::Test {
 protected:
  RenamedKeys() { take_renamed_keys(); }
  ~RenamedKeys() override { take_renamed_keys(); }

  static std::uint32_t groups_of(const Node& map) {
    return read_parameters<Parameters>(map).groups;
  }
};

TEST_F(RenamedKeys, TheNewNameIsNoNews) {
  EXPECT_EQ(groups_of(parse_document("groups: 6\n", "gpu.yaml")), 6u);
  EXPECT_THAT(take_renamed_keys(), IsEmpty());
}

TEST_F(RenamedKeys, TheOldNameWorksAndIsNotedOnce) {
  for (int reading = 0; reading < 2; ++reading)
    EXPECT_EQ(groups_of(parse_document("clusters: 6\n", "gpu.yaml")), 6u);
  EXPECT_THAT(take_renamed_keys(),
              ElementsAre("note: gpu.yaml:1:1: the key \"clusters\" is called \"groups\" now; the "
                          "old name still works"));
  EXPECT_THAT(take_renamed_keys(), IsEmpty());
}

TEST_F(RenamedKeys, AnOverrideByTheOldNameReplacesWhatTheFileHas) {
  const Node map = parse_document("groups: 6\n", "gpu.yaml");
  override_value(map, "clusters", parse_document("2", "scenario.yaml"));
  EXPECT_EQ(groups_of(map), 2u);
}

TEST_F(RenamedKeys, AWrongValueIsReportedUnderTheNewName) {
  try {
    groups_of(parse_document("clusters: 99\n", "gpu.yaml"));
    FAIL() << "99 groups were accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("groups"));
  }
}

TEST_F(RenamedKeys, TheDescriptionHasTheOldName) {
  EXPECT_THAT(describe(schema_of<Parameters>()), testing::HasSubstr("formerly clusters"));
}

}  // namespace
}  // namespace lockstep::renamed_keys_test
