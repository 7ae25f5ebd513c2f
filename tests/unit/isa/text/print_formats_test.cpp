/// printf's formats: what they ask for and what they print.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "models/isa/text/print_format.hpp"

namespace lockstep::isa::print_formats_test {
namespace {

/// Arguments as a caller lays them out.
class Arguments {
 public:
  template <class... Values>
  explicit Arguments(Values... values) {
    (add(values), ...);
  }
  std::vector<std::uint32_t> words;

 private:
  template <class Value>
  void add(Value value) {
    static_assert(sizeof value == 4 || sizeof value == 8, "C promotes arguments");
    if (sizeof value == 8 && words.size() % 2 != 0) words.push_back(0xdeadbeef);
    words.resize(words.size() + sizeof value / 4);
    std::memcpy(words.data() + words.size() - sizeof value / 4, &value, sizeof value);
  }
};

constexpr std::uint64_t hello = 0x70000;

template <class... Values>
std::string printed(const std::string& format, Values... values) {
  Module module;
  GlobalVariable variable;
  for (const char c : {'h', 'e', 'l', 'l', 'o', '\0'}) variable.initial.push_back(std::byte(c));
  module.globals.push_back(variable);
  const std::vector<std::uint64_t> addresses{hello};
  const PrintFormat taken_apart(format);
  Arguments arguments(+values...);  // promoted
  EXPECT_EQ(taken_apart.argument_bytes(), arguments.words.size() * 4) << format;
  arguments.words.resize(taken_apart.argument_bytes() / 4);
  return taken_apart.text(arguments.words, ModuleText(module, addresses));
}

TEST(PrintFormat, TextStandsAsItIs) {
  EXPECT_EQ(printed("no arguments\n"), "no arguments\n");
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed("100%%"), "100%");
}

TEST(PrintFormat, IntegersPrintInTheirBase) {
  EXPECT_EQ(printed("%d %i %u", -5, 7, -1), "-5 7 4294967295");
  EXPECT_EQ(printed("%x %X %o %#x %#o", 255, 255, 8, 255, 8), "ff FF 10 0xff 010");
}

TEST(PrintFormat, ModifiersSayHowManyBytesCount) {
  EXPECT_EQ(printed("%hd %hu %hhd %hhu", 0x18000, 0x18000, 0x1ff, 0x1ff), "-32768 32768 -1 255");
  EXPECT_EQ(printed("%ld %lld %lu", std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{-1}),
            "-1 1099511627776 18446744073709551615");
  EXPECT_EQ(printed("%zu %lx", std::uint64_t{1} << 33, std::uint64_t{1} << 33),
            "8589934592 200000000");
}

TEST(PrintFormat, EightBytesAreAlignedBehindFour) {
  EXPECT_EQ(printed("%d %f %d %lu", 1, 2.5, 3, std::uint64_t{4}), "1 2.500000 3 4");
}

TEST(PrintFormat, FloatingPointPrintsAsInC) {
  EXPECT_EQ(printed("%f %.2f %e %.3E", 1.5, 2.345, 12345.678, 0.00012),
            "1.500000 2.35 1.234568e+04 1.200E-04");
  EXPECT_EQ(printed("%g %G %a %A %F", 1e-5, 1e20, 1.0, 10.0, 0.5),
            "1e-05 1E+20 0x1p+0 0X1.4P+3 0.500000");
  EXPECT_EQ(printed("%f %f", std::bit_cast<double>(0x7ff0000000000000ull),
                    std::bit_cast<double>(0x7ff8000000000000ull)),
            "inf nan");
}

TEST(PrintFormat, FlagsAndWidthsPlaceTheValue) {
  EXPECT_EQ(printed("[%5d|%-5d|%05d|%+d|% d]", 42, 42, 42, 42, 42), "[   42|42   |00042|+42| 42]");
  EXPECT_EQ(printed("[%8.3f|%-8.1f|%08.2f]", 3.14159, 3.14159, 3.14159),
            "[   3.142|3.1     |00003.14]");
  EXPECT_EQ(printed("[%.3d]", 7), "[007]");
}

TEST(PrintFormat, AStarTakesWidthOrPrecisionFromTheArguments) {
  EXPECT_EQ(printed("[%*d|%*d]", 5, 42, -5, 42), "[   42|42   ]");
  EXPECT_EQ(printed("[%.*f|%.*f]", 1, 2.25, -1, 2.25), "[2.2|2.250000]");
  EXPECT_EQ(printed("[%*.*f]", 7, 2, 2.5), "[   2.50]");
}

TEST(PrintFormat, CharactersStringsAndPointersPrint) {
  EXPECT_EQ(printed("%c%c[%3c]", 'o', 'k', '!'), "ok[  !]");
  EXPECT_EQ(printed("%s|%8s|%.2s|%s", hello, hello, hello, hello + 3), "hello|   hello|he|lo");
  EXPECT_EQ(printed("%p %p", std::uint64_t{0x7f00}, std::uint64_t{0}), "0x7f00 (nil)");
}

TEST(PrintFormat, AStringThatIsNoLiteralPrintsItsAddress) {
  EXPECT_EQ(printed("%s", std::uint64_t{0x1234}), "<0x1234>");
}

TEST(PrintFormat, WhatIsNoConversionStandsAsItIs) {
  EXPECT_EQ(printed("%y %5k %"), "%y %5k %");
}

TEST(PrintFormat, TheNumberOfArgumentsIsWhatPrintfReturns) {
  EXPECT_EQ(PrintFormat("plain %%").arguments(), 0u);
  EXPECT_EQ(PrintFormat("%d %s %f").arguments(), 3u);
  EXPECT_EQ(PrintFormat("%*.*f").arguments(), 3u);
}

TEST(PrintFormat, ThirtyTwoArgumentsAreTheLimitBehindWhichConversionsStandAsTheyAre) {
  std::string format;
  for (int i = 0; i < 33; ++i) format += "%d";
  const PrintFormat taken_apart(format);
  EXPECT_EQ(taken_apart.arguments(), 32u);
  Module module;
  const std::vector<std::uint32_t> ones(32, 1);
  EXPECT_EQ(taken_apart.text(ones, ModuleText(module, {})), std::string(32, '1') + "%d");
}

TEST(PrintFormat, WidthsEndAt4096) {
  EXPECT_EQ(printed("%99999999d", 1).size(), 4096u);
  EXPECT_EQ(printed("%*d", 2'000'000'000, 1).size(), 4096u);
}

}  // namespace
}  // namespace lockstep::isa::print_formats_test
