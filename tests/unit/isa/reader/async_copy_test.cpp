/// What is read of asynchronous copies, and what is refused.
#include <gtest/gtest.h>

#include "models/isa/text/disassemble.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/isa/reader/read_instructions.hpp"

namespace lockstep::isa::async_copy_test {
namespace {

std::string kernel_text(const std::string& line) {
  return R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
.shared .align 16 .b8 room[256];
ld.param.u64 %rd1, [in];
mov.u32 %r1, room;
mov.u64 %rd2, room;
mov.u32 %r2, 12;
setp.eq.u32 %p1, %r2, %r1;
)" + line +
         "\nret;\n}\n";
}

std::vector<Instruction> read(const std::string& line, Category category) {
  return read_instructions(kernel_text(line), category);
}

std::string error_of(const std::string& line) {
  return message_of([&] { load_module_text(kernel_text(line), "bad.ptx"); });
}

TEST(AsyncCopies, AreReadAsNvccAndTritonWriteThem) {
  for (const std::string line : {
           "cp.async.ca.shared.global [%r1], [%rd1], 4;",
           "cp.async.ca.shared::cta.global [%r1+16], [%rd1+32], 8;",
           "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;",
           "cp.async.cg.shared.global [%rd2], [%rd1 + 0], 16;",
           "cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd1;",
           "cp.async.ca.shared.global [room+32], [%rd1], 16;",
           "@%p1 cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10;",
       }) {
    const auto copies = read(line, Category::copy);
    ASSERT_EQ(copies.size(), 1u) << line;
    EXPECT_FALSE(copies[0].source[2].valid()) << line;
  }
}

TEST(AsyncCopies, MayReadLessThanTheyWrite) {
  for (const std::string line : {
           "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;",
           "cp.async.ca.shared.global [%r1], [%rd1], 4, 0;",
           "cp.async.ca.shared.global [%r1], [%rd1], 8, %p1;",
       }) {
    const auto copies = read(line, Category::copy);
    ASSERT_EQ(copies.size(), 1u) << line;
    EXPECT_TRUE(copies[0].source[2].valid()) << line;
  }
}

TEST(AsyncCopies, PassL1OnlyWithCg) {
  EXPECT_EQ(read("cp.async.cg.shared.global [%r1], [%rd1], 16;", Category::copy)[0].memory.cache,
            CacheOperator::cg);
  EXPECT_EQ(read("cp.async.ca.shared.global [%r1], [%rd1], 16;", Category::copy)[0].memory.cache,
            CacheOperator::ca);
}

TEST(AsyncCopies, HaveGroupsThatAreWaitedFor) {
  const auto steps = read("cp.async.commit_group;\ncp.async.wait_group 3;\ncp.async.wait_all;",
                          Category::copy_group);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].target, 3u);
}

TEST(AsyncCopies, LetABarrierObjectKnow) {
  const std::string arrive = "cp.async.mbarrier.arrive";
  const auto counted = read(arrive + ".noinc.shared::cta.b64 [%r1];", Category::atomic);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].memory.atomic, AtomicOperation::arrive_behind_copies);
  const auto joining = read(arrive + ".b64 [%rd1];", Category::atomic);
  ASSERT_EQ(joining.size(), 1u);
  EXPECT_EQ(joining[0].memory.atomic, AtomicOperation::join_behind_copies);
  EXPECT_EQ(joining[0].memory.space, Space::generic);
}

TEST(AsyncCopyErrors, SayWhatACopyMayBe) {
  EXPECT_NE(error_of("cp.async.cg.shared.global [%r1], [%rd1], 8;").find("16 bytes with .cg"),
            std::string::npos);
  EXPECT_NE(error_of("cp.async.ca.shared.global [%r1], [%rd1], 12;").find("4, 8 or 16 bytes"),
            std::string::npos);
  EXPECT_NE(error_of("cp.async.shared.global [%r1], [%rd1], 4;").find("needs .ca or .cg"),
            std::string::npos);
  EXPECT_NE(error_of("cp.async.wait_group 70000;").find("0 to 65535"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::isa::async_copy_test
