/// Loads and stores around pending fills, bypassing accesses and atomics: the traps of rule 3, and
/// what fences wait for (architecture.md, section 8).
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::memory_order_test {
namespace {

struct Result {
  std::vector<std::uint32_t> values;
  std::vector<IdealMachine::Seen> seen;
};

/// One warp; %rd2 = in + 4 * lane; the kernel leaves its values in %r10 ... %r13.
Result run(const std::string& body, IdealMachine::Options options = {},
           std::uint32_t threads = 32) {
  IdealMachine machine(kernel_of("mov.u32 %r1, %laneid;\nmul.wide.u32 %rd2, %r1, 4;\n"
                                 "add.u64 %rd3, %rd0, %rd2;\nadd.u64 %rd2, %rd1, %rd2;\n"
                                 "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\n"
                                 "mov.u32 %r13, 0;\n" +
                                 body +
                                 "st.global.u32 [%rd3], %r10;\nst.global.u32 [%rd3+128], %r11;\n"
                                 "st.global.u32 [%rd3+256], %r12;\n"
                                 "st.global.u32 [%rd3+384], %r13;\n"),
                       options);
  for (std::uint32_t i = 0; i < 256; ++i) machine.put<std::uint32_t>(4096 + 4 * i, 1000 + i);
  machine.record = true;
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(4096), 7});
  machine.run();
  Result result;
  for (unsigned i = 0; i < 4; ++i)
    result.values.push_back(machine.get<std::uint32_t>(128 * i + 4 * 5));  // lane 5
  result.seen = machine.seen;
  return result;
}

unsigned count(const Result& result, MemoryOperation operation, std::uint64_t line) {
  unsigned n = 0;
  for (const auto& s : result.seen) n += s.request.operation == operation && s.request.line == line;
  return n;
}

TEST(MemoryOrder, LoadAfterStoreToALineWithPendingFillSeesTheStore) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    st.global.u32 [%rd2], %r0;
    ld.global.u32 %r11, [%rd2];
  )");
  EXPECT_EQ(r.values[0], 1005u);
  EXPECT_EQ(r.values[1], 7u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 2u) << "the closed miss serves nobody later";
}

TEST(MemoryOrder, FillClosedByAStoreIsNotCached) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    st.global.u32 [%rd2], %r0;
    add.u32 %r11, %r10, 1;
    ld.global.u32 %r12, [%rd2];
    add.u32 %r13, %r12, 1;
    ld.global.u32 %r13, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 7u);
  EXPECT_EQ(r.values[3], 7u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 2u);
}

TEST(MemoryOrder, StoreUpdatesACachedSector) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    st.global.u32 [%rd2], %r0;
    ld.global.u32 %r12, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 7u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 1u);
}

TEST(MemoryOrder, WriteEvictDropsACachedSector) {
  IdealMachine::Options options;
  options.parameters.l1.global_writes = L1WritePolicy::write_evict;
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    st.global.u32 [%rd2], %r0;
    ld.global.u32 %r12, [%rd2];
  )",
                       options);
  EXPECT_EQ(r.values[2], 7u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 2u);
}

TEST(MemoryOrder, AtomicDropsTheCachedSector) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    red.global.add.u32 [%rd2], 5;
    ld.global.u32 %r12, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 1010u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 2u);
}

TEST(MemoryOrder, AtomicClosesAPendingFill) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    atom.global.add.u32 %r11, [%rd2], 5;
    ld.global.u32 %r12, [%rd2];
  )");
  EXPECT_EQ(r.values[0], 1005u);
  EXPECT_EQ(r.values[1], 1005u);
  EXPECT_EQ(r.values[2], 1010u);
}

TEST(MemoryOrder, VolatileLoadGoesToMemoryEachTime) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    ld.volatile.global.u32 %r12, [%rd2];
    add.u32 %r13, %r12, 1;
    ld.volatile.global.u32 %r13, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 1005u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 3u);
}

TEST(MemoryOrder, LoadsOfOneLineShareOneRequest) {
  const Result r = run("ld.global.u32 %r10, [%rd2];\nld.global.u32 %r11, [%rd2];\n");
  EXPECT_EQ(r.values[1], 1005u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 1u);
}

TEST(MemoryOrder, OnlyMissingSectorsAreAskedFor) {
  const Result r = run(R"(
    setp.lt.u32 %p1, %r1, 8;
    @%p1 ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    ld.global.u32 %r12, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 1005u);
  std::vector<unsigned> sectors;
  for (const auto& s : r.seen)
    if (s.request.operation == MemoryOperation::load) sectors.push_back(s.request.sectors);
  EXPECT_EQ(sectors, (std::vector<unsigned>{0x1, 0xe}));
}

TEST(MemoryOrder, SectorsInTheMiddleMayComeLast) {
  const Result r = run(R"(
    shr.u32 %r20, %r1, 3;
    setp.eq.u32 %p1, %r20, 0;
    setp.eq.u32 %p2, %r20, 2;
    @%p1 ld.global.u32 %r10, [%rd2];
    @%p2 ld.global.u32 %r11, [%rd2];
    ld.global.u32 %r12, [%rd2];
  )");
  EXPECT_EQ(r.values[2], 1005u);
}

TEST(MemoryOrder, FenceWaitsForAcknowledgements) {
  const auto cycles = [](const std::string& fence) {
    const Result r = run("st.global.u32 [%rd2], %r0;\nmov.u32 %r20, %clock;\n" + fence +
                         "mov.u32 %r21, %clock;\nsub.u32 %r10, %r21, %r20;\n");
    return r.values[0];
  };
  EXPECT_GT(cycles("membar.gl;\n"), 140u + 33 + 20);
  EXPECT_LT(cycles("membar.cta;\n"), 60u);
}

TEST(MemoryOrder, AcquireDropsCachedSectors) {
  const Result r = run(R"(
    ld.global.u32 %r10, [%rd2];
    add.u32 %r11, %r10, 1;
    ld.acquire.gpu.global.u32 %r12, [%rd2+512];
    ld.global.u32 %r13, [%rd2];
  )");
  EXPECT_EQ(r.values[3], 1005u);
  EXPECT_EQ(count(r, MemoryOperation::load, 4096), 2u);
}

TEST(MemoryOrder, GridStartsWithoutCachedSectors) {
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd0], %r1;\n"), {});
  machine.put<std::uint32_t>(4096, 1);
  const auto launch = [&] {
    machine.launch("k", {1, 1, 1}, {1, 1, 1}, {machine.address(0), machine.address(4096), 0});
    machine.run();
    return machine.get<std::uint32_t>(0);
  };
  EXPECT_EQ(launch(), 1u);
  machine.put<std::uint32_t>(4096, 2);
  EXPECT_EQ(launch(), 2u);
}

TEST(MemoryOrder, BlockEndsWhenItsStoresAreAcknowledged) {
  IdealMachine machine(kernel_of("st.global.u32 [%rd0], %r0;\n"), {});
  machine.record = true;
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(0), 0});
  const std::int64_t end = machine.run();
  ASSERT_EQ(machine.seen.size(), 1u);
  EXPECT_GE(end, machine.seen[0].departure + 140 + 33 + 20);
}

TEST(MemoryOrder, UnmappedAddressNamesTheThread) {
  IdealMachine machine(kernel_of("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 37;\n"
                                 "mov.u64 %rd5, 0x7000000000;\n@%p1 st.global.u32 [%rd5], %r1;\n"),
                       {});
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run_to(1000);
  ASSERT_EQ(machine.told.size(), 2u);
  const std::string& text = machine.told[1].text;
  EXPECT_NE(text.find("violation test.ptx:"), std::string::npos) << text;
  EXPECT_NE(text.find("thread (37, 0, 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("0x7000000000"), std::string::npos) << text;
}

TEST(MemoryOrder, MisalignedAddressIsReported) {
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd1+2];\n"), {});
  machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run_to(1000);
  ASSERT_EQ(machine.told.size(), 1u);  // once, though two warps did it
  EXPECT_NE(machine.told[0].text.find("misaligned access of 4 bytes"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::memory_order_test
