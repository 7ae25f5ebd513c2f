#include "core/parameters/units.hpp"

#include <gtest/gtest.h>

namespace lockstep::units_test {
namespace {

std::uint64_t bytes(const std::string& text) {
  return std::get<std::uint64_t>(parse_scalar(text, ParameterType::bytes).value.value());
}
std::int64_t time(const std::string& text) {
  return std::get<std::int64_t>(parse_scalar(text, ParameterType::time).value.value());
}
double real(const std::string& text, ParameterType type) {
  return std::get<double>(parse_scalar(text, type).value.value());
}
std::string problem(const std::string& text, ParameterType type) {
  const ParsedScalar parsed = parse_scalar(text, type);
  return parsed.value ? "none" : parsed.problem;
}

TEST(Units, BytesUnderstandBinaryAndDecimalUnits) {
  EXPECT_EQ(bytes("192KiB"), 192u << 10);
  EXPECT_EQ(bytes("16 GiB"), 16ull << 30);
  EXPECT_EQ(bytes("16GB"), 16'000'000'000u);
  EXPECT_EQ(bytes("1.5KiB"), 1536u);
  EXPECT_EQ(bytes("0"), 0u);
}

TEST(Units, TimesAreExactToTheFemtosecond) {
  EXPECT_EQ(time("45us"), 45'000'000'000);
  EXPECT_EQ(time("0.1ns"), 100'000);
  EXPECT_EQ(time("1.5ms"), 1'500'000'000'000);
  EXPECT_EQ(time("0.000001s"), 1'000'000'000);
}

TEST(Units, FrequenciesAndBandwidthsAreDecimalUnlessWrittenBinary) {
  EXPECT_EQ(real("1312MHz", ParameterType::frequency), 1312e6);
  EXPECT_EQ(real("1.312GHz", ParameterType::frequency), 1312e6);
  EXPECT_EQ(real("16GB/s", ParameterType::bandwidth), 16e9);
  EXPECT_EQ(real("16GiB/s", ParameterType::bandwidth), 16.0 * 1073741824);
}

TEST(Units, WholeNumbersMayBeWrittenAsReals) {
  EXPECT_EQ(std::get<std::uint64_t>(*parse_scalar("1e6", ParameterType::uint32).value), 1'000'000u);
  EXPECT_EQ(std::get<std::uint64_t>(*parse_scalar("0x10", ParameterType::uint64).value), 16u);
  EXPECT_EQ(std::get<std::int64_t>(*parse_scalar("-7", ParameterType::int32).value), -7);
}

TEST(Units, RefusesWhatIsNotOfTheType) {
  EXPECT_EQ(problem("45", ParameterType::time), "\"45\" has no unit");
  EXPECT_EQ(problem("45MHz", ParameterType::time),
            "\"45MHz\" has an unknown unit \"MHz\" for a time");
  EXPECT_EQ(problem("0.3fs", ParameterType::time),
            "\"0.3fs\" is too large or no whole number of femtoseconds");
  EXPECT_EQ(problem("99999s", ParameterType::time),
            "\"99999s\" is too large or no whole number of femtoseconds");
  EXPECT_EQ(problem("1.5B", ParameterType::bytes),
            "\"1.5B\" is too large or no whole number of bytes");
  EXPECT_EQ(problem("-4KiB", ParameterType::bytes), "\"-4KiB\" is no amount of memory");
  EXPECT_EQ(problem("1.2.3us", ParameterType::time), "\"1.2.3us\" is no time");
  EXPECT_EQ(problem("4294967296", ParameterType::uint32),
            "\"4294967296\" does not fit this parameter");
  EXPECT_EQ(problem("-1", ParameterType::uint32), "\"-1\" does not fit this parameter");
  EXPECT_EQ(problem("2.5", ParameterType::int32), "\"2.5\" is no whole number");
  EXPECT_EQ(problem("yes", ParameterType::boolean), "\"yes\" is neither true nor false");
  EXPECT_EQ(problem("nan", ParameterType::real), "\"nan\" is no number");
  EXPECT_EQ(problem("", ParameterType::bytes), "\"\" is no amount of memory");
}

TEST(Units, FormattingTakesTheShortestExactText) {
  EXPECT_EQ(format_scalar(std::uint64_t{98304}, ParameterType::bytes), "96KiB");
  EXPECT_EQ(format_scalar(std::uint64_t{16'000'000'000}, ParameterType::bytes), "16GB");
  EXPECT_EQ(format_scalar(std::uint64_t{0}, ParameterType::bytes), "0B");
  EXPECT_EQ(format_scalar(std::int64_t{45'000'000'000}, ParameterType::time), "45us");
  EXPECT_EQ(format_scalar(1312e6, ParameterType::frequency), "1312MHz");
  EXPECT_EQ(format_scalar(16e9, ParameterType::bandwidth), "16GB/s");
  EXPECT_EQ(format_scalar(0.1, ParameterType::real), "0.1");
  EXPECT_EQ(format_scalar(std::int64_t{-3}, ParameterType::int32), "-3");
}

TEST(Units, FormattedValuesReadBackToTheSameValue) {
  std::uint64_t state = 12345;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t whole = state >> (state % 60);
    for (const ParameterType type : {ParameterType::bytes, ParameterType::uint64}) {
      const ParameterScalar value = whole;
      EXPECT_EQ(parse_scalar(format_scalar(value, type), type).value, value);
    }
    const ParameterScalar time_value = std::int64_t(whole >> 2);
    EXPECT_EQ(
        parse_scalar(format_scalar(time_value, ParameterType::time), ParameterType::time).value,
        time_value);
    for (const ParameterType type :
         {ParameterType::frequency, ParameterType::bandwidth, ParameterType::real}) {
      const ParameterScalar value = double(whole) / 1024.0;
      const std::string text = format_scalar(value, type);
      EXPECT_EQ(parse_scalar(text, type).value, value) << text;
    }
  }
}

}  // namespace
}  // namespace lockstep::units_test
