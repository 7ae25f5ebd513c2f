/// Loops that the front end left alone run four rounds at a time.
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/lowering/lowered.hpp"

namespace lockstep::isa::unroll_test {
namespace {

/// Sums words at an address that the loop counts; `test`: what is compared with what.
std::string loop(const std::string& test, const std::string& step, const std::string& body = "",
                 const std::string& pragma = "") {
  return "mov.u32 %r10, room;\nshl.b32 %r11, %r3, 4;\nadd.s32 %r10, %r10, %r11;\n"
         "mov.u32 %r12, 0;\nmov.u32 %r9, 0;\nagain:\n" +
         pragma + "ld.shared.u32 %r13, [%r10];\nadd.s32 %r9, %r9, %r13;\n" + body +
         "add.s32 %r10, %r10, 4;\nadd.s32 %r12, %r12, " + step + ";\n" + test +
         "\n@%p1 bra again;\nst.global.u32 [%rd1], %r9;\n";
}
const std::string below = "setp.lt.s32 %p1, %r12, %r1;";

LoweringOptions unrolling() {
  LoweringOptions options;
  options.unroll_loops = true;
  return options;
}

std::size_t loads(const std::string& body) {
  return Lowered(body, unrolling()).count(Opcode::ld);
}

TEST(Unrolling, MakesFourLoadsOfOneAndMergesThem) {
  const Lowered k(loop(below, "1"), unrolling());
  ASSERT_EQ(k.count(Opcode::ld), 2u) << "four words at once, and one of what is left over\n"
                                     << k.text();
  EXPECT_EQ(k.all(Opcode::ld)[0].elements, 4) << k.text();
  EXPECT_EQ(k.all(Opcode::ld)[1].elements, 1) << k.text();
}

TEST(Unrolling, IsOffUnlessAskedFor) {
  EXPECT_EQ(Lowered(loop(below, "1")).count(Opcode::ld), 1u);
}

TEST(Unrolling, LeavesLoopsAloneThatItCannotCount) {
  EXPECT_EQ(loads(loop("setp.lt.s32 %p1, %r13, %r1;", "1")), 1u) << "ends when data say so";
  EXPECT_EQ(loads(loop(below, "%r13")), 1u) << "steps as data say";
  EXPECT_EQ(loads(loop("setp.gt.s32 %p1, %r12, %r1;", "1")), 1u) << "counts away from its bound";
}

TEST(Unrolling, LeavesLoopsAloneWhoseLanesMustStayTogether) {
  EXPECT_EQ(loads(loop(below, "1", "bar.sync 0;\n")), 1u);
  EXPECT_EQ(loads(loop(below, "1", "activemask.b32 %r14;\n")), 1u);
  EXPECT_EQ(loads(loop(below, "1", "red.global.add.u32 [%rd1], %r13;\n")), 1u);
}

TEST(Unrolling, ObeysThePragma) {
  EXPECT_EQ(loads(loop(below, "1", "", ".pragma \"nounroll\";\n")), 1u);
}

/// As ptxas does: the branch becomes a guard, then the loop has one block.
TEST(Unrolling, IncludesLoopsWhoseBranchesBecomeGuards) {
  const std::string branch =
      "setp.lt.u32 %p2, %r13, 9;\n@%p2 bra small;\nadd.s32 %r9, %r9, %r13;\nsmall:\n";
  const Lowered k(loop(below, "1", branch), unrolling());
  ASSERT_EQ(k.count(Opcode::ld), 2u) << k.text();
  EXPECT_EQ(k.all(Opcode::ld)[0].elements, 4) << k.text();
  const std::string leave = "setp.lt.u32 %p2, %r13, 9;\n@%p2 bra past;\n";
  EXPECT_EQ(loads(loop(below, "1", leave) + "past:\n"), 1u) << "which leaves the loop";
}

const std::string five_times = "setp.lt.s32 %p1, %r12, 5;";

TEST(Unrolling, MakesStraightCodeOfKnownRounds) {
  const Lowered k(loop(five_times, "1"), unrolling());
  EXPECT_EQ(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_EQ(k.count(Opcode::setp), 0u) << k.text();
  EXPECT_EQ(k.count(Opcode::ld), 2u) << "four words at once and the fifth\n" << k.text();
}

TEST(Unrolling, StraightCodeMayHaveBarriers) {
  const Lowered k(loop(five_times, "1", "bar.sync 0;\n"), unrolling());
  EXPECT_EQ(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_EQ(k.count(Opcode::bar), 5u) << k.text();
}

TEST(Unrolling, MakesNoLongCodeOfManyRounds) {
  const Lowered k(loop("setp.lt.s32 %p1, %r12, 1000;", "1"), unrolling());
  EXPECT_GT(k.count(Opcode::bra), 0u) << k.text();
  EXPECT_LE(k.count(Opcode::ld), 2u) << k.text();
}

struct Ending {
  const char* text;
  bool (*holds)(std::int64_t counter, std::int64_t bound);
};
constexpr std::int64_t first = 7, most_rounds = 40;

/// Nothing, if it runs for long.
std::optional<std::int64_t> rounds_of(const Ending& test, std::int64_t step, std::int64_t bound) {
  std::int64_t counter = first, rounds = 0;
  do {
    counter += step;
    if (++rounds > most_rounds) return {};
  } while (test.holds(counter, bound));
  return rounds;
}

/// A value that every round changes, as the loop leaves it.
std::uint32_t result(const Module& module, bool lowered, std::int64_t bound) {
  FlatMemory memory;
  memory.map(first_global_address, 64);
  std::vector<std::byte> parameters(12);
  const std::uint64_t out = first_global_address;
  std::memcpy(parameters.data(), &out, 8);
  std::memcpy(parameters.data() + 8, &bound, 4);
  Launch launch{module, 0, {1, 1, 1}, {1, 1, 1}, 0, parameters};
  launch.lowered = lowered;
  interpret(launch, memory);
  std::uint32_t value = 0;
  memory.read(first_global_address, &value, 4);
  return value;
}

/// `bound`: the parameter, unless it is a number.
Module counting(const std::string& test, std::int64_t step, const std::string& bound = "%r1") {
  return load_module_text(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n.reg .pred %p<4>; .reg .b32 %r<20>; "
      ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\n"
      "mov.u32 %r12, " +
          std::to_string(first) +
          ";\nmov.u32 %r9, 1;\nagain:\nmad.lo.u32 %r9, %r9, 3, %r12;\nadd.s32 %r12, %r12, " +
          std::to_string(step) + ";\nsetp." + test + " %p1, %r12, " + bound +
          ";\n@%p1 bra again;\nst.global.u32 [%rd1], %r9;\nret;\n}\n",
      "loop.ptx", unrolling());
}

TEST(Unrolling, RunsAsManyRoundsAsBefore) {
  constexpr std::array tests{
      Ending{"lt.s32", [](std::int64_t c, std::int64_t b) { return c < b; }},
      Ending{"le.s32", [](std::int64_t c, std::int64_t b) { return c <= b; }},
      Ending{"ne.s32", [](std::int64_t c, std::int64_t b) { return c != b; }},
      Ending{"gt.s32", [](std::int64_t c, std::int64_t b) { return c > b; }},
      Ending{"ge.s32", [](std::int64_t c, std::int64_t b) { return c >= b; }}};
  unsigned compared = 0;
  for (const Ending& test : tests)
    for (const std::int64_t step : {1, 2, 3, -1, -2}) {
      const bool up = test.text[0] == 'l';
      if (test.text[0] != 'n' && up != (step > 0)) continue;
      const Module module = counting(test.text, step);
      const Program &reference = module.kernels[0].reference, &lowered = module.kernels[0].lowered;
      ASSERT_GT(lowered.instructions.size(), reference.instructions.size()) << "it is unrolled";
      for (std::int64_t bound = -25; bound < 40; ++bound) {
        if (!rounds_of(test, step, bound)) continue;
        ++compared;
        ASSERT_EQ(result(module, false, bound), result(module, true, bound))
            << test.text << ", step " << step << ", bound " << bound;
      }
    }
  EXPECT_GT(compared, 500u);
}

TEST(Unrolling, StraightCodeRunsAsManyRoundsAsTheLoop) {
  for (const std::int64_t bound : {1, 7, 8, 9, 10, 30})
    for (const auto& [test, step] :
         {std::pair{"lt.s32", 1}, std::pair{"le.s32", 3}, std::pair{"lt.u32", 2},
          std::pair{"gt.s32", -1}, std::pair{"ge.s32", -2}}) {
      const Module module = counting(test, step, std::to_string(bound));
      EXPECT_EQ(result(module, false, 0), result(module, true, 0))
          << test << ", step " << step << ", bound " << bound;
    }
}

TEST(Unrolling, StopsAtTheEndsOfTheNumbers) {
  constexpr std::int64_t largest = 0x7fffffff, smallest = -largest - 1;
  for (const std::int64_t bound : {smallest, smallest + 1, smallest + 3, smallest + 7}) {
    const Module module = counting("lt.s32", 1);
    EXPECT_EQ(result(module, false, bound), result(module, true, bound)) << bound;
  }
  for (const std::int64_t bound : {largest, largest - 1, largest - 3}) {
    const Module module = counting("gt.s32", -1);
    EXPECT_EQ(result(module, false, bound), result(module, true, bound)) << bound;
  }
}

}  // namespace
}  // namespace lockstep::isa::unroll_test
