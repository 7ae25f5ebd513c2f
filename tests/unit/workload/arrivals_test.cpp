#include "models/workload/arrivals.hpp"

#include <gmock/gmock.h>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"

namespace lockstep::arrivals_test {
namespace {

using namespace literals;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<Time> read(const std::string& text) {
  return read_arrivals(parse_document(text, "a"), 5_us, 7, 0);
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Arrivals, AtEqualDistancesTheFirstIsAtTheArrival) {
  EXPECT_THAT(read("{every: 10us, count: 3}"), ElementsAre(5_us, 15_us, 25_us));
}

TEST(Arrivals, ATimeForEach) {
  EXPECT_THAT(read("{at: [5us, 9us, 9us]}"), ElementsAre(5_us, 9_us, 9_us));
}

TEST(Arrivals, RandomOnesAreTheSameForTheSameTenant) {
  for (const char* text : {"{uniform: [1us, 3us], count: 40}", "{poisson: 2us, count: 40}"}) {
    EXPECT_THAT(read(text), AllOf(SizeIs(40), Each(Ge(5_us)))) << text;
    EXPECT_EQ(read(text), read(text));
  }
}

TEST(Arrivals, OneFormIsGiven) {
  EXPECT_THAT(error_of("{count: 3}"), HasSubstr("does not say when the program starts again"));
  EXPECT_THAT(error_of("{every: 1us, poisson: 1us, count: 3}"),
              HasSubstr("says in several ways when the program starts again"));
}

TEST(Arrivals, HowManyIsSaidWhereTheFormDoesNot) {
  EXPECT_THAT(error_of("{every: 1us}"), HasSubstr("\"count\" is missing"));
  EXPECT_THAT(error_of("{at: [9us], count: 1}"), HasSubstr("count: has no effect beside at"));
}

TEST(Arrivals, UnknownKeysNameTheNearest) {
  EXPECT_THAT(error_of("{every: 1us, cuont: 3}"), AllOf(HasSubstr("cuont"), HasSubstr("count")));
}

TEST(Arrivals, EveryKeyIsDescribed) {
  const std::string text = describe(schema_of<ArrivalsKeys>(), "arrivals.", "");
  for (const char* key : {"every", "uniform", "poisson", "at", "count"})
    EXPECT_THAT(text, HasSubstr(std::string("arrivals.") + key));
}

}  // namespace
}  // namespace lockstep::arrivals_test
