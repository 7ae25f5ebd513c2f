#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::local_memory_test {
namespace {

/// A very small L1, so that local lines come and go.
IdealMachine::Options small_l1(L1Allocation allocation) {
  IdealMachine::Options options;
  options.parameters.l1.unified_bytes = Bytes{0};
  options.parameters.l1.bytes = Bytes{1024};
  options.parameters.l1.allocation = allocation;
  options.parameters.l1.mshrs = 4;
  return options;
}

class LocalMemory : public ::testing::TestWithParam<L1Allocation> {};
INSTANTIATE_TEST_SUITE_P(Allocations, LocalMemory,
                         ::testing::Values(L1Allocation::on_fill, L1Allocation::on_miss));

TEST_P(LocalMemory, KeepsWhatItIsGivenThroughWriteBacks) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, array;
    mov.u32 %r3, 0;
  fill:
    mad.lo.u32 %r4, %r1, 1000, %r3;
    shl.b32 %r5, %r3, 2;
    add.u32 %r5, %r5, %r2;
    st.local.u32 [%r5], %r4;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 64;
    @%p1 bra fill;
    mov.u32 %r3, 0;
    mov.u32 %r6, 0;
  sum:
    mad.lo.u32 %r7, %r3, 7, %r1;
    and.b32 %r7, %r7, 63;
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r7, %r2;
    ld.local.u32 %r8, [%r7];
    add.u32 %r6, %r6, %r8;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 64;
    @%p1 bra sum;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u32 [%rd3], %r6;
  )",
                                 ".local .align 4 .b8 array[256];\n"),
                       small_l1(GetParam()));
  machine.launch("k", {1, 1, 1}, {128, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  for (std::uint32_t t = 0; t < 128; ++t)
    ASSERT_EQ(machine.get<std::uint32_t>(4 * t), 64 * 1000 * t + 63 * 32) << t;
}

TEST_P(LocalMemory, MixesWidthsAndPartlyWrittenSectors) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, array;
    cvt.u64.u32 %rd5, %r1;
    add.u64 %rd6, %rd5, 0x1111111122222222;
    st.local.u64 [%r2+8], %rd6;
    st.local.u8 [%r2+9], %r1;
    ld.local.u64 %rd7, [%r2+8];
    st.local.v4.u32 [%r2+16], {%r1, %r1, %r2, %r1};
    ld.local.v2.u64 {%rd8, %rd9}, [%r2+16];
    st.local.u16 [%r2+40], %r1;
    st.local.u16 [%r2+42], %r1;
    ld.local.u32 %r9, [%r2+40];
    ld.local.s8 %r10, [%r2+9];
    add.u64 %rd7, %rd7, %rd8;
    cvt.u64.u32 %rd10, %r9;
    add.u64 %rd7, %rd7, %rd10;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u64 [%rd3], %rd7;
  )",
                                 ".local .align 16 .b8 array[64];\n"),
                       small_l1(GetParam()));
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  for (std::uint64_t t = 0; t < 64; ++t) {
    const std::uint64_t word = ((t + 0x1111111122222222u) & ~0xff00ull) | (t & 0xff) << 8;
    const std::uint64_t twice = t | t << 32, halves = t | t << 16;
    ASSERT_EQ(machine.get<std::uint64_t>(8 * t), word + twice + halves) << t;
  }
}

TEST(LocalMemoryErrors, IndexBehindTheArrayIsReported) {
  IdealMachine machine(kernel_of("mov.u32 %r2, 4096;\nst.local.u32 [%r2], %r0;\n",
                                 ".local .align 4 .b8 array[64];\n"),
                       {});
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run_to(1000);
  ASSERT_EQ(machine.told.size(), 1u);
  EXPECT_NE(machine.told[0].text.find("local address 0x1000"), std::string::npos);
}

TEST(LocalMemoryErrors, RecursionWithoutAnEndIsReportedAsSuch) {
  IdealMachine machine(kernel_of("call.uni deeper, ();\n", "", R"(
.func deeper()
{
  .reg .b32 %a<3>;
  mov.u32 %a1, %laneid;
  call.uni deeper, ();
  mov.u32 %a2, %a1;
  st.shared.u32 [%a2], %a1;
  ret;
}
)"),
                       {});
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run_to(1'000'000);
  ASSERT_EQ(machine.told.size(), 1u);
  EXPECT_NE(machine.told[0].text.find("calls nest too deeply"), std::string::npos)
      << machine.told[0].text;
}

}  // namespace
}  // namespace lockstep::local_memory_test
