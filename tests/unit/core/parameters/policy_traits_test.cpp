/// Which policies go together, as their registry rows say it.
#include "core/parameters/policy_traits.hpp"

#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"

namespace lockstep::test::policy_traits_test {
namespace {

using Make = int (*)(const PolicyChoice&);
int nothing(const PolicyChoice&) {
  return 0;
}

struct EngineParameters {
  bool turbo = false;
  static auto schema() {
    return parameters<EngineParameters>().field("turbo", &EngineParameters::turbo, false, "faster");
  }
};

/// An engine with a turbo must have oil; a dry sump must not stand beside a big engine.
const PolicyList& engines() {
  static const PolicyRegistry<Make> registry{
      {"small", "an engine", nothing, &schema_of<EngineParameters>(),
       [](const PolicyChoice& choice) {
         PolicyTraits traits;
         if (choice.parameters<EngineParameters>().turbo)
           traits.needs = {{.plug_point = "sump",
                            .trait = "holds oil",
                            .why = "with a turbo needs oil",
                            .other = "holds none",
                            .advice = "choose sump: wet"}};
         return traits;
       }},
      {"big", "an engine", nothing, nullptr, [](const PolicyChoice&) {
         return PolicyTraits{{"is big"}, {}};
       }}};
  return registry.list();
}

const PolicyList& sumps() {
  static const PolicyRegistry<Make> registry{{{"wet", "a sump", nothing, nullptr,
                                               [](const PolicyChoice&) {
                                                 return PolicyTraits{{"holds oil"}, {}};
                                               }},
                                              {"dry", "a sump", nothing}},
                                             [](const PolicyChoice&) {
                                               return PolicyTraits{
                                                   {},
                                                   {{.plug_point = "engine",
                                                     .trait = "is big",
                                                     .absent = true,
                                                     .why = "has no room",
                                                     .other = "fills it",
                                                     .advice = "choose engine: small"}}};
                                             }};
  return registry.list();
}

struct Car {
  PolicyChoice engine, sump;
  static auto schema() {
    return parameters<Car>()
        .policy("engine", &Car::engine, "small", engines, "turns")
        .policy("sump", &Car::sump, "wet", sumps, "below");
  }
};

std::optional<PolicyConflict> conflict_of(const std::string& text) {
  const Car car = read_parameters<Car>(parse_document(text, "test"));
  return policy_conflict(schema_of<Car>(), &car, "car.");
}

TEST(PolicyTraits, ChoicesWithoutDemandsGoTogether) {
  EXPECT_FALSE(conflict_of("{engine: small, sump: dry}"));
  EXPECT_FALSE(conflict_of("{engine: big, sump: wet}"));
}

TEST(PolicyTraits, ADemandThatIsMetIsNoConflict) {
  EXPECT_FALSE(conflict_of("{engine: {name: small, turbo: true}, sump: wet}"));
}

TEST(PolicyTraits, ADemandOfAParameterThatIsNotMetIsSaidWithItsAdvice) {
  const auto conflict = conflict_of("{engine: {name: small, turbo: true}, sump: dry}");
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->plug_point, "engine");
  EXPECT_EQ(conflict->what, "car.engine small with a turbo needs oil, and car.sump dry holds none");
  EXPECT_EQ(conflict->advice, "choose sump: wet");
}

TEST(PolicyTraits, RowsWithoutTraitsOfTheirOwnHaveThoseOfTheirRegistry) {
  const auto conflict = conflict_of("{engine: big, sump: dry}");
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->plug_point, "sump");
  EXPECT_EQ(conflict->what, "car.sump dry has no room, and car.engine big fills it");
}

TEST(PolicyTraits, ATraitIsAskedForByName) {
  EXPECT_TRUE(has_trait(sumps(), PolicyChoice(sumps()[0]), "holds oil"));
  EXPECT_FALSE(has_trait(sumps(), PolicyChoice(sumps()[1]), "holds oil"));
}

}  // namespace
}  // namespace lockstep::test::policy_traits_test
