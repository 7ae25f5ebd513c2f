/// Keys that do nothing in some configurations say so: in tables, and when somebody writes them.
#include "core/parameters/idle_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"

namespace lockstep::idle_keys_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct TlbParameters {
  bool enabled;
  std::uint32_t entries, ways;
  static auto schema() {
    using P = TlbParameters;
    return parameters<P>()
        .field("enabled", &P::enabled, false, "whether there is one")
        .field("entries", &P::entries, 64, range(1, 1024), "of it")
        .field("ways", &P::ways, 4, range(1, 16), "of a set")
        .only_if("entries ways", "with enabled: true", [](const P& p) { return p.enabled; });
  }
};

struct WalkParameters {
  std::uint32_t walkers;
  static auto schema() {
    using P = WalkParameters;
    return parameters<P>()
        .field("walkers", &P::walkers, 8, range(1, 64), "at once")
        .only_if("walkers", "with more than one", [](const P& p) { return p.walkers > 1; });
  }
};

const PolicyList& translations() {
  static const PolicyList list{{"walks", "it walks", &schema_of<WalkParameters>()},
                               {"ideal", "it knows", nullptr}};
  return list;
}

struct GpuParameters {
  TlbParameters tlb;
  PolicyChoice translation;
  static auto schema() {
    using P = GpuParameters;
    return parameters<P>()
        .group("tlb", &P::tlb, "translations")
        .policy("translation", &P::translation, "walks", translations, "how")
        .only_if("tlb", "with translation: walks",
                 [](const P& p) { return p.translation.name() == "walks"; });
  }
};

std::vector<std::string> notes(const std::string& text) {
  const Node map = parse_document(text, "g.yaml", "gpu");
  const auto values = read_parameters<GpuParameters>(map);
  std::vector<std::string> all;
  for (const IdleKey& key : idle_keys(schema_of<GpuParameters>(), &values, map))
    all.push_back(key.text());
  return all;
}

TEST(IdleKeys, AKeyThatDoesNothingIsToldWithItsPlaceAndWhenItWould) {
  EXPECT_THAT(notes("tlb:\n  entries: 32\n"),
              ElementsAre("g.yaml:2:12: gpu.tlb.entries does nothing here: only with enabled: "
                          "true"));
}

TEST(IdleKeys, WhatActsOrIsNotWrittenIsNotTold) {
  EXPECT_THAT(notes("tlb: {enabled: true, entries: 32}\n"), IsEmpty());
  EXPECT_THAT(notes("{}\n"), IsEmpty());
}

TEST(IdleKeys, AConditionOfAGroupIsAboutEachKeyInIt) {
  EXPECT_THAT(notes("{tlb: {enabled: true, entries: 32}, translation: ideal}\n"),
              ElementsAre(HasSubstr("gpu.tlb.enabled does nothing here: only with translation"),
                          HasSubstr("gpu.tlb.entries does nothing here: only with translation")));
}

TEST(IdleKeys, ParametersOfPoliciesHaveConditionsToo) {
  EXPECT_THAT(notes("translation: {name: walks, walkers: 1}\n"),
              ElementsAre("g.yaml:1:37: gpu.translation.walkers does nothing here: only with more "
                          "than one"));
}

TEST(IdleKeys, WhatASettingWroteIsToldByTheSetting) {
  const Node map = parse_document("{}", "g.yaml");
  apply_settings(map, {"tlb.ways=2"});
  const auto values = read_parameters<GpuParameters>(map);
  const auto keys = idle_keys(schema_of<GpuParameters>(), &values, map);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_THAT(keys[0].text(), testing::StartsWith("--set tlb.ways=2: tlb.ways does nothing here"));
}

TEST(IdleKeys, TablesSayWhenAKeyDoesSomething) {
  const std::string table = describe(schema_of<GpuParameters>(), "gpu.");
  EXPECT_THAT(table, HasSubstr("of it; only with enabled: true\n"));
  EXPECT_THAT(table, HasSubstr("translations; only with translation: walks\n"));
  EXPECT_THAT(table, HasSubstr("at once; only with more than one\n"));
  const std::string page = reference_page(schema_of<GpuParameters>(), "`gpu`");
  EXPECT_THAT(page, HasSubstr("| of it; only with enabled: true |"));
  EXPECT_THAT(page, HasSubstr("| translations; only with translation: walks |"));
  EXPECT_THAT(page, HasSubstr("| at once; only with more than one |"));
}

struct Misdeclared {
  std::uint32_t here;
  static auto schema() {
    using P = Misdeclared;
    return parameters<P>()
        .field("here", &P::here, 1, range(0, 2), "a number")
        .only_if("heer", "never", [](const P&) { return false; });
  }
};

TEST(IdleKeys, AConditionAboutNoKeyIsABug) {
  EXPECT_THROW(Misdeclared::schema(), InternalError);
}

struct Entry {
  std::string name;
  std::uint64_t limit = 0;
  Node rest;
  static auto schema() {
    using P = Entry;
    return parameters<P>()
        .required("name", &P::name, "what it is called")
        .optional("limit", &P::limit, 0, "none", at_least(std::uint64_t{1}), "how far it goes")
        .part("rest", &P::rest, "file or map", "what somebody else reads");
  }
};

TEST(OptionalKeys, StandForNothingUnlessTheyAreWritten) {
  const auto plain = read_parameters<Entry>(parse_document("name: a", "e.yaml"));
  EXPECT_EQ(plain.limit, 0u);
  EXPECT_FALSE(plain.rest.exists());
  EXPECT_EQ(to_yaml(plain), "name: a\n");
  const auto full =
      read_parameters<Entry>(parse_document("{name: a, limit: 3, rest: {x: 1}}", "e.yaml"));
  EXPECT_EQ(full.limit, 3u);
  EXPECT_EQ(full.rest.at("x").integer(), 1);
  EXPECT_EQ(to_yaml(full), "name: a\nlimit: 3\nrest: {x: 1}\n");
  EXPECT_THROW(read_parameters<Entry>(parse_document("{name: a, limit: 0}", "e.yaml")), UserError);
}

TEST(OptionalKeys, TablesCallTheirDefault) {
  const std::string page = reference_page(schema_of<Entry>(), "`e`");
  EXPECT_THAT(page, HasSubstr("| `limit` | count | none | >= 1 | how far it goes |"));
  EXPECT_THAT(page, HasSubstr("| `rest` | file or map |  |  | what somebody else reads |"));
}

}  // namespace
}  // namespace lockstep::idle_keys_test
