/// Floats that depend on the order of threads, and how far off they may be.
#include "models/isa/interpreter/inexact/inexact_memory.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/isa/interpreter/inexact/float_trace.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::inexact_memory_test {
namespace {

constexpr std::size_t many = 100;

/// Launches of one block of 64 threads each, with what is known of their memory.
class InexactFloatsOf : public testing::Test {
 protected:
  std::vector<InexactFloats> after(const std::string& body, unsigned threads = 1) {
    IsaBench bench(kernel_text(body + "\nret;"));
    FloatTrace trace(known);
    bench.floats = &trace;
    bench.threads = threads;
    out = bench.allocate(4096);
    bench.run("k", {4, 1, 1}, {16, 1, 1}, out);
    known.apply(trace);
    return known.ranges(out, 4096, many);
  }

  InexactMemory known;
  std::uint64_t out = 0;
};

constexpr const char* sum = "mov.f32 %f1, 0f3fc00000;\nred.global.add.f32 [%rd1], %f1;\n";  // 1.5

TEST_F(InexactFloatsOf, AtomicsGrowWithTheSquareRootOfAddends) {
  const auto found = after(sum);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].offset, 0u);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[0].type, Type::f32);
  EXPECT_DOUBLE_EQ(found[0].tolerance, 4 * 8 * 0x1p-24);
  EXPECT_GE(found[0].magnitude, 1.5);
  EXPECT_LE(found[0].magnitude, 96);
}

TEST_F(InexactFloatsOf, FurtherLaunchesAddToTheSameSum) {
  for (int launch = 0; launch < 3; ++launch) after(sum);
  EXPECT_FLOAT_EQ(static_cast<float>(after(sum)[0].tolerance), 4 * 16 * 0x1p-24F);
}

TEST_F(InexactFloatsOf, EveryTypeOfFloat) {
  EXPECT_EQ(after("red.global.add.f64 [%rd1+8], 0d3ff0000000000000;")[0].type, Type::f64);
  EXPECT_DOUBLE_EQ(known.ranges(out, 4096, many)[0].tolerance, 4 * 8 * 0x1p-53);
  const auto halves = after("mov.b32 %r2, 0x3c003c00;\nred.global.add.noftz.f16x2 [%rd1+16], %r2;");
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[1].type, Type::f16);
  EXPECT_EQ(halves[1].count, 2u);
  EXPECT_EQ(halves[1].offset, 16u);
}

TEST_F(InexactFloatsOf, AtomicsThatDoNotAddFloatsAreExact) {
  EXPECT_TRUE(after("red.global.add.u32 [%rd1], 1;\nred.global.max.s32 [%rd1+4], %r1;").empty());
}

TEST_F(InexactFloatsOf, WhatAKernelMakesOfThem) {
  const double tolerance = after(sum)[0].tolerance;
  const auto found = after(R"(ld.global.f32 %f2, [%rd1];
mul.f32 %f3, %f2, 0f40400000;
st.global.f32 [%rd2+1024], %f3;
st.global.u32 [%rd2+2048], %r1;)");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].offset, 1024u);
  EXPECT_EQ(found[1].count, 16u);
  EXPECT_DOUBLE_EQ(found[1].tolerance, 2 * tolerance);
}

TEST_F(InexactFloatsOf, WhatAKernelStoresThatReadsNoneIsExact) {
  after(sum);
  EXPECT_TRUE(after("mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd2], %f1;").empty());
}

TEST_F(InexactFloatsOf, VectorsAndUntypedStores) {
  after(sum);
  const auto found = after(R"(ld.global.b32 %r3, [%rd1];
st.global.v2.b32 [%rd1+512], {%r3, %r3};)");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].offset, 512u);
  EXPECT_EQ(found[1].count, 2u);
  EXPECT_EQ(found[1].type, Type::f32);
}

TEST_F(InexactFloatsOf, MagnitudeOfWhatIsStoredAround) {
  after(sum);
  // Thread 3 stores 1000, the others 1.
  const auto found = after(R"(ld.global.f32 %f2, [%rd1];
mov.f32 %f3, 0f3f800000;
setp.eq.u32 %p1, %r1, 3;
@%p1 mov.f32 %f3, 0f447a0000;
st.global.f32 [%rd2+1024], %f3;)");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].magnitude, 1000);
}

TEST_F(InexactFloatsOf, SumsInSharedMemory) {
  const auto found = after(R"(.shared .align 4 .f32 s;
mov.f32 %f1, 0f3f800000;
red.shared.add.f32 [s], %f1;
bar.sync 0;
ld.shared.f32 %f2, [s];
st.global.f32 [%rd2], %f2;)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 16u);
  EXPECT_DOUBLE_EQ(found[0].tolerance, 2 * 4 * 32 * 0x1p-24);
}

TEST_F(InexactFloatsOf, ResultsOfAtomicsThatAreUsed) {
  const std::string add = "mov.f32 %f1, 0f3f800000;\natom.global.add.f32 %f2, [%rd1], %f1;\n";
  EXPECT_EQ(after(add + "st.global.f32 [%rd2+512], %f1;").size(), 1u);
  EXPECT_EQ(after(add + "st.global.f32 [%rd2+512], %f2;").size(), 2u);
}

TEST_F(InexactFloatsOf, ThreadsOfTheHostSeeTheSame) {
  after(sum);
  const std::string scale = "ld.global.f32 %f2, [%rd1];\nst.global.f32 [%rd2+1024], %f2;\n";
  const auto four = after(scale, 4);
  ASSERT_EQ(four.size(), 2u);
  EXPECT_EQ(four[1].count, 16u);
}

TEST_F(InexactFloatsOf, NeverMoreThanHalfOfTheDigits) {
  after(sum);
  for (int launch = 0; launch < 40; ++launch)
    after("ld.global.f32 %f2, [%rd1];\nst.global.f32 [%rd1], %f2;");
  EXPECT_DOUBLE_EQ(known.ranges(out, 4096, many)[0].tolerance, std::sqrt(0x1p-24));
}

TEST_F(InexactFloatsOf, CopiesTakeThemAlong) {
  after(sum);
  known.copy(out + 400, known, out, 16);
  ASSERT_EQ(known.ranges(out, 4096, many).size(), 2u);
  EXPECT_EQ(known.ranges(out, 4096, many)[1].offset, 400u);
  known.clear(out, 8);
  EXPECT_EQ(known.ranges(out, 4096, many).size(), 1u);
  EXPECT_TRUE(known.ranges(out, 400, many).empty());
}

TEST_F(InexactFloatsOf, ManyRangesBecomeFew) {
  after(R"(mov.f32 %f1, 0f3f800000;
mul.wide.u32 %rd3, %r1, 32;
add.s64 %rd3, %rd1, %rd3;
red.global.add.f32 [%rd3], %f1;)");
  EXPECT_EQ(known.ranges(out, 4096, 16).size(), 16u);
  const auto few = known.ranges(out, 4096, 4);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].count, 15u * 8 + 1);
}

}  // namespace
}  // namespace lockstep::isa::inexact_memory_test
