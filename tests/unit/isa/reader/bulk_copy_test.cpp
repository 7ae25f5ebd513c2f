/// What is read of bulk copies, and what is refused.
#include "models/isa/bulk/bulk_copy.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/isa/reader/read_instructions.hpp"

namespace lockstep::isa::bulk_copy_reader_test {
namespace {

std::string kernel_text(const std::string& line) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
.shared .align 16 .b8 room[256];
.shared .align 8 .b64 gate;
ld.param.u64 %rd1, [in];
mov.u32 %r1, room;
mov.u64 %rd2, room;
mov.u32 %r2, 64;
setp.eq.u32 %p1, %r2, %r1;
)" + line +
         "\nret;\n}\n";
}

std::vector<Instruction> read(const std::string& line, Category category) {
  return read_instructions(kernel_text(line), category);
}

std::string error_of(const std::string& line, bool has_engine = true) {
  LoweringOptions options;
  options.bulk_copies = has_engine;
  return message_of([&] { load_module_text(kernel_text(line), "bad.ptx", options); });
}

void expect_error(const std::string& line, const std::string& part) {
  EXPECT_NE(error_of(line).find(part), std::string::npos) << line << ": " << error_of(line);
}

TEST(BulkCopies, AreReadAsNvccAndCutlassWriteThem) {
  const std::string loads = "mbarrier::complete_tx::bytes";
  for (const auto& [line, step] : {
           std::pair(
               "cp.async.bulk.shared::cluster.global." + loads + " [%r1], [%rd1], %r2, [gate];",
               ir::BulkCopyStep::load),
           std::pair(
               "cp.async.bulk.shared::cta.global." + loads + " [%rd2+16], [%rd1+32], 64, [gate];",
               ir::BulkCopyStep::load),
           std::pair("@%p1 cp.async.bulk.shared::cluster.global." + loads +
                         ".L2::cache_hint [room], [%rd1], 64, [gate], %rd1;",
                     ir::BulkCopyStep::load),
           std::pair(std::string("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;"),
                     ir::BulkCopyStep::store),
           std::pair(std::string("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
                                 "[%rd1+16], [room+16], 16, %rd1;"),
                     ir::BulkCopyStep::store),
           std::pair(std::string("cp.async.bulk.prefetch.L2.global [%rd1], %r2;"),
                     ir::BulkCopyStep::prefetch),
       }) {
    const auto copies = read(line, Category::bulk_copy);
    ASSERT_EQ(copies.size(), 1u) << line;
    EXPECT_EQ(copies[0].target, (BulkCopyForm{step, 0}.packed())) << line;
    EXPECT_TRUE(copies[0].source[1].valid() && copies[0].source[2].valid()) << line;
  }
}

TEST(BulkCopies, HaveGroupsOfTheirOwn) {
  EXPECT_EQ(read("cp.async.bulk.commit_group;", Category::bulk_group).size(), 1u);
  const auto waits =
      read("cp.async.bulk.wait_group 3;\ncp.async.bulk.wait_group.read 0;", Category::bulk_group);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].target, 3u);
  EXPECT_EQ(waits[0].detail, static_cast<std::uint16_t>(ir::BulkGroupStep::wait));
  EXPECT_EQ(waits[1].detail, static_cast<std::uint16_t>(ir::BulkGroupStep::wait_read));
  EXPECT_TRUE(read("cp.async.bulk.commit_group;", Category::copy_group).empty());
}

TEST(BulkCopies, FencesBeforeThemAreNoInstructions) {
  const auto count = [](const std::string& line) {
    return load_module_text(kernel_text(line), "good.ptx").kernels[0].lowered.instructions.size();
  };
  EXPECT_EQ(count("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;"),
            count(""));
  expect_error("fence.mbarrier_init.acquire.cluster;", "is the only form");
}

TEST(BulkReductions, InOtherBlocksAreCopiesToThemWithAnOperation) {
  for (const auto& [text, operation, type] :
       {std::tuple("add.u32", AtomicOperation::add, Type::u32),
        std::tuple("add.u64", AtomicOperation::add, Type::u64),
        std::tuple("min.s32", AtomicOperation::min, Type::s32),
        std::tuple("xor.b32", AtomicOperation::logical_xor, Type::b32),
        std::tuple("dec.u32", AtomicOperation::dec, Type::u32)}) {
    const auto copies = read(
        "cp.reduce.async.bulk.shared::cluster.shared::cta."
        "mbarrier::complete_tx::bytes." +
            std::string(text) + " [%r1], [%r1], 64, [gate];",
        Category::bulk_copy);
    ASSERT_EQ(copies.size(), 1u) << text;
    EXPECT_EQ(copies[0].target, (BulkCopyForm{ir::BulkCopyStep::send, 0}.packed())) << text;
    EXPECT_EQ(copies[0].memory.atomic, operation) << text;
    EXPECT_EQ(copies[0].memory.type, type) << text;
  }
}

TEST(BulkReductionErrors, OperationsThatPtxDoesNotHaveInOtherBlocksAreRefused) {
  const auto line = [](const std::string& text) {
    return "cp.reduce.async.bulk.shared::cluster.shared::cta" + text + " [%r1], [%r1], 64, [gate];";
  };
  for (const std::string text : {"add.f32", "min.u64", "and.b64", "add.f16"})
    expect_error(line(".mbarrier::complete_tx::bytes." + text),
                 "has no such operation on this type");
  expect_error(line(".bulk_group.add.u32"), "reduces from .shared::cta to .shared::cluster");
}

TEST(BulkReductions, AreReadWithTheirOperationAndType) {
  for (const auto& [text, operation, type] :
       {std::tuple("add.u32", AtomicOperation::add, Type::u32),
        std::tuple("min.s64", AtomicOperation::min, Type::s64),
        std::tuple("and.b32", AtomicOperation::logical_and, Type::b32),
        std::tuple("inc.u32", AtomicOperation::inc, Type::u32),
        std::tuple("add.f64", AtomicOperation::add, Type::f64),
        std::tuple("add.noftz.bf16", AtomicOperation::add, Type::bf16),
        std::tuple("max.f16", AtomicOperation::max, Type::f16)}) {
    const auto copies = read("cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                                 std::string(text) + " [%rd1], [%r1], 64;",
                             Category::bulk_copy);
    ASSERT_EQ(copies.size(), 1u) << text;
    EXPECT_EQ(copies[0].target, (BulkCopyForm{ir::BulkCopyStep::reduce, 0}.packed())) << text;
    EXPECT_EQ(copies[0].memory.atomic, operation) << text;
    EXPECT_EQ(copies[0].memory.type, type) << text;
  }
}

TEST(BulkReductionErrors, OperationsThatPtxDoesNotHaveAreRefused) {
  for (const std::string text : {"add.f16", "min.f32", "inc.s32", "add.noftz.u32", "and.f64"})
    expect_error(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group." + text + " [%rd1], [%r1], 64;",
        "has no such operation on this type");
  expect_error("cp.reduce.async.bulk.global.shared::cta.bulk_group.u32 [%rd1], [%r1], 64;",
               "needs .add, .min, .max");
}

TEST(BulkCopyErrors, SayWhatACopyMayBe) {
  expect_error("cp.async.bulk.shared::cta.global [%r1], [%rd1], 64, [gate];",
               "needs .mbarrier::complete_tx::bytes");
  expect_error("cp.async.bulk.global.bulk_group [%rd1], [%r1], 64;",
               "copies from .shared::cta to .global");
  expect_error("cp.async.bulk.wait_group 70000;", "0 to 65535");
}

TEST(BulkCopyErrors, AMachineWithoutAnEngineSaysWhichGpuHasOne) {
  for (const std::string line :
       {"cp.async.bulk.prefetch.L2.global [%rd1], 64;", "cp.async.bulk.commit_group;"})
    EXPECT_EQ(error_of(line, false),
              "bad.ptx:14:1: cp.async.bulk needs the engine for bulk copies of compute capability "
              "9.0 or later: the machine has none - simulate a GPU like H100 (9.0), or compile for "
              "the one that is simulated");
}

}  // namespace
}  // namespace lockstep::isa::bulk_copy_reader_test
