#include "models/sm/parameters/occupancy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::occupancy_test {
namespace {

using testing::HasSubstr;

isa::Program kernel(std::uint32_t registers, std::uint32_t shared = 0, std::uint32_t barriers = 1) {
  isa::Program program;
  program.registers_per_thread = registers;
  program.static_shared_bytes = shared;
  program.barriers = barriers;
  return program;
}

/// Compute capability 7.0, as in NVIDIA's occupancy calculator.
OccupancyLimits volta() {
  return {};
}

/// Compute capability 2.0.
OccupancyLimits fermi() {
  OccupancyLimits limits;
  limits.threads = 1536;
  limits.warps = 48;
  limits.blocks = 8;
  limits.registers = 32768;
  limits.shared_bytes = limits.shared_bytes_per_block = 49152;
  limits.register_unit = 64;
  limits.shared_unit = 128;
  return limits;
}

std::uint32_t blocks(const OccupancyLimits& limits, std::uint32_t threads, std::uint32_t registers,
                     std::uint32_t shared = 0, std::uint32_t dynamic = 0) {
  return blocks_per_sm(block_resources(kernel(registers, shared), threads, dynamic, limits),
                       limits);
}

TEST(Occupancy, WarpSlotsLimitSmallKernels) {
  EXPECT_EQ(blocks(volta(), 256, 32), 8u);
}

TEST(Occupancy, BlockSlotsLimitSmallBlocks) {
  EXPECT_EQ(blocks(volta(), 32, 16), 32u);
}

TEST(Occupancy, RegistersAreGivenToWarpsInUnits) {
  EXPECT_EQ(blocks(volta(), 256, 33), 6u);  // 33 * 32 = 1056 -> 1280 per warp
  EXPECT_EQ(blocks(volta(), 256, 40), 6u);
  EXPECT_EQ(blocks(volta(), 256, 41), 5u);
  EXPECT_EQ(blocks(volta(), 1024, 64), 1u);
}

TEST(Occupancy, SharedMemoryIsGivenToBlocksInUnits) {
  EXPECT_EQ(blocks(volta(), 128, 16, 16384), 6u);
  EXPECT_EQ(blocks(volta(), 128, 16, 16385), 5u);
}

TEST(Occupancy, DynamicSharedMemoryAddsToTheStatic) {
  EXPECT_EQ(blocks(volta(), 128, 16, 8192, 8192), 6u);
  EXPECT_EQ(blocks(volta(), 128, 16, 8192, 8193), 5u);
}

TEST(Occupancy, PartOfAWarpTakesAWholeOne) {
  const BlockResources block = block_resources(kernel(32), 33, 0, volta());
  EXPECT_EQ(block.warps, 2u);
  EXPECT_EQ(block.threads, 33u);
  EXPECT_EQ(block.registers, 2048u);
}

TEST(Occupancy, StatedRegistersTakeThePlaceOfTheProgramsOwn) {
  EXPECT_EQ(block_resources(kernel(32), 64, 0, volta(), 255).registers, 2u * 8192);
  EXPECT_EQ(block_resources(kernel(255), 64, 0, volta(), 16).registers, 2u * 512);
  // 000, section 5.2: lbm has eight warps on an SM of 65536 registers.
  EXPECT_EQ(blocks_per_sm(block_resources(kernel(40), 32, 0, volta(), 255), volta()), 8u);
}

TEST(Occupancy, FermiHasFewerSlotsAndSmallerUnits) {
  EXPECT_EQ(blocks(fermi(), 256, 20), 6u);
  EXPECT_EQ(blocks(fermi(), 256, 21), 5u);
  EXPECT_EQ(blocks(fermi(), 64, 16), 8u);
  EXPECT_EQ(blocks(fermi(), 256, 16, 16384), 3u);
}

std::string problem(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared = 0,
                    std::uint32_t barriers = 1) {
  return why_block_does_not_fit(
      block_resources(kernel(registers, shared, barriers), threads, 0, volta()), volta());
}

TEST(Occupancy, BlockThatFitsHasNoProblem) {
  EXPECT_EQ(problem(1024, 64, 98304, 16), "");
}

TEST(Occupancy, TooManyThreadsAreNamed) {
  EXPECT_THAT(problem(1025, 16), HasSubstr("1025 threads, the limit is 1024"));
}

TEST(Occupancy, BlockWithoutThreadsIsNamed) {
  EXPECT_THAT(problem(0, 16), HasSubstr("no threads"));
}

TEST(Occupancy, TooManyRegistersAreNamed) {
  EXPECT_THAT(problem(1024, 65), HasSubstr("73728 registers, an SM has 65536"));
}

TEST(Occupancy, TooMuchSharedMemoryIsNamed) {
  EXPECT_THAT(problem(32, 16, 98305), HasSubstr("bytes of shared memory, the limit is 98304"));
}

TEST(Occupancy, TooManyBarriersAreNamed) {
  EXPECT_THAT(problem(32, 16, 0, 17), HasSubstr("17 named barriers, an SM has 16"));
}

TEST(Occupancy, TakenAndGivenBackIsNothing) {
  const BlockResources block = block_resources(kernel(40, 5000, 3), 200, 100, volta());
  BlockResources used;
  used += block;
  used += block;
  EXPECT_EQ(used.shared_bytes, 2 * block.shared_bytes);
  used -= block;
  used -= block;
  EXPECT_EQ(
      used.threads + used.warps + used.blocks + used.registers + used.shared_bytes + used.barriers,
      0u);
}

}  // namespace
}  // namespace lockstep::occupancy_test
