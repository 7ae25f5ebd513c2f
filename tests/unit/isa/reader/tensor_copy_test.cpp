/// What is read of copies of tiles, and what is refused.
#include <gtest/gtest.h>

#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/l2_hint.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/isa/reader/read_instructions.hpp"

namespace lockstep::isa::tensor_copy_reader_test {
namespace {

std::string kernel_text(const std::string& line) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.const .align 64 .b8 fixed[128];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 pointer)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
.shared .align 128 .b8 room[256];
.shared .align 8 .b64 gate;
ld.param.u64 %rd1, [pointer];
mov.b64 %rd2, map;
cvta.param.u64 %rd3, %rd2;
mov.u32 %r1, room;
mov.u32 %r2, %tid.x;
)" + line +
         "\nret;\n}\n";
}

void expect_error(const std::string& line, const std::string& part, bool has_engine = true) {
  LoweringOptions options;
  options.bulk_copies = has_engine;
  const std::string error =
      message_of([&] { load_module_text(kernel_text(line), "bad.ptx", options); });
  EXPECT_NE(error.find(part), std::string::npos) << line << ": " << error;
  EXPECT_NE(error.find("bad.ptx:15:1"), std::string::npos) << error;
}

constexpr const char* to_shared = "shared::cluster.global.mbarrier::complete_tx::bytes";

TEST(TensorCopies, AreReadAsCutlassAndTritonWriteThem) {
  using Step = ir::BulkCopyStep;
  const std::string load = to_shared;
  for (const auto& [line, form] : {
           std::pair("cp.async.bulk.tensor.1d." + load + " [%r1], [%rd3, {%r2}], [gate];",
                     BulkCopyForm{Step::load, 1}),
           std::pair("cp.async.bulk.tensor.2d." + load +
                         ".L2::cache_hint [room], [%rd3, {%r2, 64}], [gate], %rd1;",
                     BulkCopyForm{Step::load, 2}),
           std::pair(
               std::string("cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::"
                           "bytes [%r1+128], [%rd1, {%r2, %r2, 0}], [gate];"),
               BulkCopyForm{Step::load, 3}),
           std::pair("cp.async.bulk.tensor.5d." + load +
                         " [%r1], [fixed, {%r2, -1, %r2, 3, %r2}], [gate];",
                     BulkCopyForm{Step::load, 5}),
           std::pair(
               std::string("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%rd3, "
                           "{%r2, 0, 0, %r2}], [%r1];"),
               BulkCopyForm{Step::store, 4}),
           std::pair(std::string("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_"
                                 "hint [%rd3, {%r2, %r2}], [%r1], %rd1;"),
                     BulkCopyForm{Step::store, 2}),
           std::pair(std::string("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_"
                                 "group [%rd3, {%r2, 1}], [%r1];"),
                     BulkCopyForm{Step::reduce, 2}),
           std::pair(
               std::string("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd3, {%r2, 1}];"),
               BulkCopyForm{Step::prefetch, 2}),
       }) {
    const auto copies = read_instructions(kernel_text(line), Category::bulk_copy);
    ASSERT_EQ(copies.size(), 1u) << line;
    EXPECT_EQ(copies[0].target, form.packed()) << line;
    EXPECT_EQ(copies[0].source[1 + (form.rank + 1) / 2].valid(), true) << line;
    EXPECT_EQ(copies[0].memory.space, Space::generic) << line;
  }
}

TEST(TensorCopies, CarryTheHintThatTheirPolicySays) {
  const auto copies = read_instructions(
      kernel_text("mov.b64 %rd4, 0x12f0000000000000;\ncp.async.bulk.tensor.1d." +
                  std::string(to_shared) + ".L2::cache_hint [%r1], [%rd3, {%r2}], [gate], %rd4;"),
      Category::bulk_copy);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].detail, L2Hint{.primary = L2Priority::first}.packed());
}

TEST(TensorCopyErrors, SayWhatIsNotModelled) {
  const std::string load = to_shared;
  expect_error(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%r1], [%rd3, {%r2, %r2, %r2, %r2}], [gate], {%r2};",
      "im2col mode is not modelled in this release");
  expect_error(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::"
      "bytes [%r1], [%rd3, {%r2, %r2}], [gate];",
      "belongs to sm_100");
  expect_error(
      "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes."
      "multicast::cluster [%r1], [%rd3, {%r2, %r2}], [gate], 3;",
      ".multicast::cluster is for copies from .global to .shared::cluster");
  expect_error("cp.async.bulk.tensor." + load + " [%r1], [%rd3, {%r2}], [gate];",
               "needs the number of dimensions, .1d to .5d");
}

TEST(TensorCopyErrors, ATileHasAsManyCoordinatesAsDimensions) {
  const std::string load = to_shared;
  for (const std::string tile : {"[%rd3, {%r2}]", "[%rd3, {%r2, %r2, %r2}]", "[%rd3]"}) {
    const std::string error = message_of([&] {
      load_module_text(
          kernel_text("cp.async.bulk.tensor.2d." + load + " [%r1], " + tile + ", [gate];"),
          "bad.ptx");
    });
    EXPECT_NE(error.find("a tile of 2 dimensions is [map, {coordinates}]"), std::string::npos)
        << error;
  }
}

TEST(TensorCopyErrors, AMachineWithoutAnEngineRefusesThemAtLoad) {
  expect_error("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd3, {%r2}];",
               "needs the engine for bulk copies of compute capability 9.0 or later", false);
}

}  // namespace
}  // namespace lockstep::isa::tensor_copy_reader_test
