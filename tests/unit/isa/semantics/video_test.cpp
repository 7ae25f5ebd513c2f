/// Video instructions and packed integers, from text to values, against plain arithmetic.
#include <algorithm>
#include <functional>
#include <random>

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::video_test {
namespace {

LOCKSTEP_BOTH_FORMS(Video);

constexpr unsigned threads = 64;
using Words = std::vector<std::uint32_t>;

/// Three random words a thread, many of them at the ends of the ranges of their parts.
Words random_words() {
  std::mt19937 random(7);
  Words words(3 * threads);
  static constexpr std::uint32_t odd[] = {0,          0xffffffff, 0x80000000, 0x7fffffff,
                                          0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff,
                                          0x00ff01fe, 33};
  for (std::uint32_t& word : words) word = random() % 3 == 0 ? odd[random() % 10] : random();
  return words;
}

/// %r5 of each thread after the instruction on a, b, c in %r2, %r3, %r4.
Words run(const std::string& instruction, bool lowered) {
  const std::string text = kernel_text(R"(
mad.wide.u32 %rd3, %r1, 12, %rd1;
ld.global.u32 %r2, [%rd3+256];
ld.global.u32 %r3, [%rd3+260];
ld.global.u32 %r4, [%rd3+264];
)" + instruction + ";\nst.global.u32 [%rd2], %r5;\nret;");
  Words memory(threads);
  const Words inputs = random_words();
  memory.insert(memory.end(), inputs.begin(), inputs.end());
  IsaBench bench(text, lowered);
  const std::uint64_t out = bench.buffer(memory);
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  return bench.values<std::uint32_t>(out, threads);
}

using Reference = std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>;
void expect(const std::string& instruction, bool lowered, const Reference& reference) {
  const Words got = run(instruction, lowered), inputs = random_words();
  for (unsigned t = 0; t < threads; ++t) {
    const std::uint32_t a = inputs[3 * t], b = inputs[3 * t + 1], c = inputs[3 * t + 2];
    ASSERT_EQ(got[t], reference(a, b, c))
        << instruction << std::hex << " of " << a << " " << b << " " << c;
  }
}

/// Part `i` of a word that has `bits` a part.
std::int64_t part(std::uint32_t word, unsigned bits, unsigned i, bool is_signed) {
  const std::int64_t value =
      static_cast<std::int64_t>(word >> (bits * i)) & ((std::int64_t{1} << bits) - 1);
  return is_signed && value >> (bits - 1) != 0 ? value - (std::int64_t{1} << bits) : value;
}
std::int64_t clamp(std::int64_t value, unsigned bits, bool is_signed) {
  const std::int64_t span = std::int64_t{1} << bits;
  return is_signed ? std::clamp(value, -span / 2, span / 2 - 1)
                   : std::clamp(value, std::int64_t{0}, span - 1);
}

struct Combination2 {
  const char* name;
  std::function<std::int64_t(std::int64_t, std::int64_t)> apply;
};
const std::vector<Combination2>& combinations() {
  static const std::vector<Combination2> list = {
      {"vadd", [](auto a, auto b) { return a + b; }},
      {"vsub", [](auto a, auto b) { return a - b; }},
      {"vabsdiff", [](auto a, auto b) { return std::max(a, b) - std::min(a, b); }},
      {"vmin", [](auto a, auto b) { return std::min(a, b); }},
      {"vmax", [](auto a, auto b) { return std::max(a, b); }}};
  return list;
}

struct Types {
  bool d, a, b;
  std::string text() const {
    std::string result;
    for (const bool is_signed : {d, a, b}) result += is_signed ? ".s32" : ".u32";
    return result;
  }
};
std::vector<Types> all_types() {
  std::vector<Types> list;
  for (unsigned k = 0; k < 8; ++k) list.push_back({(k & 4) != 0, (k & 2) != 0, (k & 1) != 0});
  return list;
}

TEST_P(Video, PartsAreCombinedSideBySide) {
  for (const unsigned parts : {2u, 4u})
    for (const Combination2& c : combinations())
      for (const Types& types : all_types())
        for (const std::string end : {"", ".sat", ".add"}) {
          const unsigned bits = 32 / parts;
          expect(c.name + std::to_string(parts) + types.text() + end + " %r5, %r2, %r3, %r4",
                 GetParam(), [&](std::uint32_t a, std::uint32_t b, std::uint32_t addend) {
                   std::uint32_t whole = 0, sum = addend;
                   for (unsigned i = 0; i < parts; ++i) {
                     std::int64_t v = c.apply(part(a, bits, i, types.a), part(b, bits, i, types.b));
                     if (end == ".sat") v = clamp(v, bits, types.d);
                     whole |= static_cast<std::uint32_t>(v & ((std::int64_t{1} << bits) - 1))
                              << bits * i;
                     sum += static_cast<std::uint32_t>(v);
                   }
                   return end == ".add" ? sum : whole;
                 });
        }
}

TEST_P(Video, AveragesRoundUpUnlessNegative) {
  for (const unsigned parts : {2u, 4u})
    for (const bool is_signed : {false, true}) {
      const std::string type = is_signed ? ".s32" : ".u32";
      const unsigned bits = 32 / parts;
      expect("vavrg" + std::to_string(parts) + type + type + type + " %r5, %r2, %r3, %r4",
             GetParam(), [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
               std::uint32_t whole = 0;
               for (unsigned i = 0; i < parts; ++i) {
                 const std::int64_t sum = part(a, bits, i, is_signed) + part(b, bits, i, is_signed);
                 // Halves of negative sums go down, of others up.
                 const std::int64_t mean = sum >= 0 ? (sum + 1) / 2 : -((-sum + 1) / 2);
                 whole |= static_cast<std::uint32_t>(mean & ((std::int64_t{1} << bits) - 1))
                          << bits * i;
               }
               return whole;
             });
    }
}

TEST_P(Video, ComparisonsGiveOneOrZero) {
  struct {
    const char* name;
    std::function<bool(std::int64_t, std::int64_t)> holds;
  } const comparisons[] = {{".eq", std::equal_to<>()}, {".ne", std::not_equal_to<>()},
                           {".lt", std::less<>()},     {".le", std::less_equal<>()},
                           {".gt", std::greater<>()},  {".ge", std::greater_equal<>()}};
  for (const auto& comparison : comparisons) {
    const std::string name = comparison.name;
    expect("vset4.s32.u32" + name + " %r5, %r2, %r3, %r4", GetParam(),
           [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
             std::uint32_t whole = 0;
             for (unsigned i = 0; i < 4; ++i)
               whole |= std::uint32_t{comparison.holds(part(a, 8, i, true), part(b, 8, i, false))}
                        << 8 * i;
             return whole;
           });
    expect("vset2.u32.u32" + name + ".add %r5, %r2, %r3, %r4", GetParam(),
           [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
             for (unsigned i = 0; i < 2; ++i)
               c += comparison.holds(part(a, 16, i, false), part(b, 16, i, false));
             return c;
           });
    expect("vset.s32.u32" + name + ".max %r5, %r2, %r3.h1, %r4", GetParam(),
           [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
             return std::max<std::uint32_t>(comparison.holds(static_cast<std::int32_t>(a), b >> 16),
                                            c);
           });
  }
}

TEST_P(Video, SelectorsAndMasksChooseParts) {
  expect("vadd2.u32.u32.u32 %r5.h1, %r2.h03, %r3.h21, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           return ((a & 0xffff) + (b & 0xffff)) << 16 | (c & 0xffff);
         });
  expect("vsub4.u32.u32.u32 %r5.b20, %r2.b7250, %r3, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const std::uint32_t second = (a >> 16) - (b >> 16), first = a - b;
           return (c & 0xff00ff00) | (second & 0xff) << 16 | (first & 0xff);
         });
  expect("vmax4.u32.u32.u32.add %r5.b3, %r2.b0000, %r3, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           return c + std::max(a & 0xff, b >> 24);
         });
}

TEST_P(Video, ScalarsTakePartsAndSaturate) {
  for (const Combination2& c : combinations())
    for (const Types& types : all_types()) {
      const auto value = [&](std::uint32_t a, std::uint32_t b) {
        return c.apply(part(a, 8, 1, types.a), part(b, 32, 0, types.b));
      };
      expect(c.name + types.text() + ".sat %r5, %r2.b1, %r3", GetParam(),
             [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
               return static_cast<std::uint32_t>(clamp(value(a, b), 32, types.d));
             });
      expect(c.name + types.text() + ".sat %r5.b2, %r2.b1, %r3, %r4", GetParam(),
             [&](std::uint32_t a, std::uint32_t b, std::uint32_t d) {
               const auto byte = static_cast<std::uint32_t>(clamp(value(a, b), 8, types.d) & 0xff);
               return (d & 0xff00ffff) | byte << 16;
             });
      expect(c.name + types.text() + ".min %r5, %r2.b1, %r3, %r4", GetParam(),
             [&](std::uint32_t a, std::uint32_t b, std::uint32_t d) {
               const auto v = static_cast<std::uint32_t>(value(a, b));
               return types.d ? static_cast<std::uint32_t>(std::min(static_cast<std::int32_t>(v),
                                                                    static_cast<std::int32_t>(d)))
                              : std::min(v, d);
             });
    }
}

TEST_P(Video, ShiftsClampOrWrapTheirAmounts) {
  expect("vshl.u32.u32.u32.clamp %r5, %r2, %r3", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t) { return b < 32 ? a << b : 0; });
  expect("vshl.u32.u32.u32.sat.wrap %r5, %r2.h0, %r3.b0", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t) {
           const std::uint64_t v = std::uint64_t{a & 0xffff} << (b & 31);
           return static_cast<std::uint32_t>(std::min<std::uint64_t>(v, 0xffffffff));
         });
  expect("vshr.s32.s32.u32.clamp.add %r5, %r2, %r3.b0, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const auto v = static_cast<std::int64_t>(static_cast<std::int32_t>(a));
           return static_cast<std::uint32_t>(v >> std::min(b & 0xff, 32u)) + c;
         });
}

TEST_P(Video, MultiplyAddScalesAndSaturates) {
  __extension__ typedef __int128 Wide;
  const auto signed_part = [](std::uint32_t a) { return static_cast<std::int32_t>(a); };
  expect("vmad.u32.u32.u32 %r5, %r2, %r3, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return a * b + c; });
  expect("vmad.s32.s32.s32.sat.shr15 %r5, %r2.h1, %r3, %r4", GetParam(),
         [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const Wide v = Wide{part(a, 16, 1, true)} * signed_part(b) + signed_part(c);
           return static_cast<std::uint32_t>(clamp(static_cast<std::int64_t>(v >> 15), 32, true));
         });
  expect("vmad.u32.u32.u32.sat.shr7.po %r5, %r2.b0, %r3, %r4", GetParam(),
         [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const std::uint64_t v = std::uint64_t{a & 0xff} * b + c + 1;
           return static_cast<std::uint32_t>(std::min<std::uint64_t>(v >> 7, 0xffffffff));
         });
  expect("vmad.s32.s32.s32.sat %r5, -%r2, %r3, %r4", GetParam(),
         [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const std::int64_t v = signed_part(c) - std::int64_t{signed_part(a)} * signed_part(b);
           return static_cast<std::uint32_t>(clamp(v, 32, true));
         });
  expect("vmad.s32.u32.u32.sat %r5, %r2.h0, %r3.h0, -%r4", GetParam(),
         [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
           const std::int64_t v =
               std::int64_t{a & 0xffff} * std::int64_t{b & 0xffff} - signed_part(c);
           return static_cast<std::uint32_t>(clamp(v, 32, true));
         });
}

TEST_P(Video, PackedIntegers) {
  struct {
    const char* text;
    bool is_signed;
    std::function<std::int64_t(std::int64_t, std::int64_t)> apply;
  } const forms[] = {
      {"add.u16x2", false, [](auto a, auto b) { return a + b; }},
      {"add.s16x2", true, [](auto a, auto b) { return a + b; }},
      {"min.u16x2", false, [](auto a, auto b) { return std::min(a, b); }},
      {"max.s16x2", true, [](auto a, auto b) { return std::max(a, b); }},
      {"min.relu.s16x2", true, [](auto a, auto b) { return std::max(std::min(a, b), a - a); }},
      {"max.s16x2.relu", true, [](auto a, auto b) { return std::max(std::max(a, b), a - a); }}};
  for (const auto& form : forms)
    expect(std::string(form.text) + " %r5, %r2, %r3", GetParam(),
           [&](std::uint32_t a, std::uint32_t b, std::uint32_t) {
             std::uint32_t whole = 0;
             for (unsigned i = 0; i < 2; ++i) {
               const std::int64_t v =
                   form.apply(part(a, 16, i, form.is_signed), part(b, 16, i, form.is_signed));
               whole |= static_cast<std::uint32_t>(v & 0xffff) << 16 * i;
             }
             return whole;
           });
}

TEST(VideoErrors, WhatPtxDoesNotHaveIsRefused) {
  for (const std::string text :
       {"vadd4.u32.u32.u32 %r5, %r2.b76, %r3, %r4", "vadd2.u32.u32.u32 %r5.b0, %r2, %r3, %r4",
        "vadd.u32.u32.u32 %r5.b0, %r2, %r3", "vadd.u32.u32.u32 %r5, -%r2, %r3",
        "vset.u32.u32 %r5, %r2, %r3", "vavrg.u32.u32.u32 %r5, %r2, %r3",
        "vshl2.u32.u32.u32 %r5, %r2, %r3, %r4", "add.u32 %r5, %r2.b0, %r3",
        "min.relu.u16x2 %r5, %r2, %r3", "vadd.f32.u32.u32 %r5, %r2, %r3"})
    EXPECT_THROW(IsaBench(kernel_text(text + ";\nret;")), UserError) << text;
}

}  // namespace
}  // namespace lockstep::isa::video_test
