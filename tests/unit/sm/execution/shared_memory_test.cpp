#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::shared_memory_test {
namespace {

constexpr const char* buffer = ".shared .align 16 .b8 buffer[16384];\n";

/// Conflict cycles of one shared access; %r1 holds the lane number, %r2 is the address.
std::uint64_t conflicts(const std::string& address, const std::string& access) {
  IdealMachine machine(
      kernel_of("mov.u32 %r3, buffer;\nmov.u32 %r1, %laneid;\n" + address + access, buffer), {});
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  EXPECT_EQ(machine.statistics().tenant[0].shared_accesses.value(), 1u);
  return machine.statistics().tenant[0].shared_conflict_cycles.value();
}

std::string stride(unsigned bytes) {
  return "mul.lo.u32 %r2, %r1, " + std::to_string(bytes) + ";\n";
}

TEST(SharedMemory, NeighbouringWordsDoNotConflict) {
  EXPECT_EQ(conflicts(stride(4), "ld.shared.u32 %r5, [%r2];\n"), 0u);
}
TEST(SharedMemory, StrideOfTwoWordsConflictsTwice) {
  EXPECT_EQ(conflicts(stride(8), "ld.shared.u32 %r5, [%r2];\n"), 1u);
}
TEST(SharedMemory, StrideOf32WordsSerialises) {
  EXPECT_EQ(conflicts(stride(128), "ld.shared.u32 %r5, [%r2];\n"), 31u);
}
TEST(SharedMemory, OddStrideDoesNotConflict) {
  EXPECT_EQ(conflicts(stride(132), "st.shared.u32 [%r2], %r1;\n"), 0u);
}
TEST(SharedMemory, OneWordIsBroadcast) {
  EXPECT_EQ(conflicts("mov.u32 %r2, 64;\n", "ld.shared.u32 %r5, [%r2];\n"), 0u);
}
TEST(SharedMemory, BytesOfOneWordAreBroadcast) {
  EXPECT_EQ(conflicts(stride(1), "ld.shared.u8 %r5, [%r2];\n"), 0u);
}
TEST(SharedMemory, DoubleWordsGoByHalfWarps) {
  EXPECT_EQ(conflicts(stride(8), "ld.shared.u64 %rd5, [%r2];\n"), 1u);
}
TEST(SharedMemory, AtomicsToOneWordSerialise) {
  EXPECT_EQ(conflicts("mov.u32 %r2, 64;\n", "red.shared.add.u32 [%r2], 1;\n"), 31u);
}

TEST(SharedMemory, AtomicsAddUp) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r3, buffer;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [%r3], 0;
    bar.sync 0;
    atom.shared.add.u32 %r4, [%r3], %r1;
    bar.sync 0;
    ld.shared.u32 %r5, [%r3];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u32 [%rd3], %r5;
  )",
                                 buffer),
                       {});
  machine.launch("k", {1, 1, 1}, {200, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  for (std::uint64_t i = 0; i < 200; ++i)
    ASSERT_EQ(machine.get<std::uint32_t>(4 * i), 199u * 200u / 2);
}

TEST(SharedMemory, BlocksDoNotSeeEachOther) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r3, buffer;
    mov.u32 %r1, %ctaid.x;
    st.shared.u32 [%r3+128], %r1;
    bar.sync 0;
    ld.shared.u32 %r5, [%r3+128];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    st.global.u32 [%rd3], %r5;
  )",
                                 buffer),
                       {});
  machine.launch("k", {20, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(machine.get<std::uint32_t>(4 * i), i);
}

TEST(SharedMemory, AccessBehindTheBlocksMemoryIsReported) {
  IdealMachine machine(kernel_of("mov.u32 %r2, 20000;\nst.shared.u32 [%r2], %r0;\n", buffer), {});
  machine.launch("k", {3, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run_to(1000);
  ASSERT_EQ(machine.told.size(), 1u);
  const std::string& text = machine.told[0].text;
  EXPECT_NE(text.find("violation test.ptx:"), std::string::npos) << text;
  EXPECT_NE(text.find("tenant alone, kernel k"), std::string::npos) << text;
  EXPECT_NE(text.find("0x4e20"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::shared_memory_test
