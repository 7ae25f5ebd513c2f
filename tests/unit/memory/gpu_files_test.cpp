/// What configs/gpus says about network and memory: readable, and true to the machines' data
/// sheets.
#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "models/memory/memory_parameters.hpp"
#include "models/noc/noc_parameters.hpp"

namespace lockstep::gpu_files_test {
namespace {

MemoryParameters memory_of(const std::string& gpu) {
  const Node file =
      load_document(std::string(LOCKSTEP_SOURCE_DIR) + "/configs/gpus/" + gpu + ".yaml");
  read_parameters<NocParameters>(file.at("noc"));
  return read_parameters<MemoryParameters>(file.at("memory"));
}

/// Bytes per second of all data buses.
double peak(const MemoryParameters& p) {
  return double(p.partitions) * p.dram.channels * double(p.dram.atom.count()) /
         double(p.dram.burst.count()) * p.dram.clock.hertz();
}
std::uint64_t l2_bytes(const MemoryParameters& p) {
  return p.partitions * p.l2.slices * p.l2.size.count();
}

TEST(GpuFiles, V100Moves900GigabytesPerSecond) {
  const MemoryParameters p = memory_of("v100");
  EXPECT_NEAR(peak(p), 900e9, 5e9);
  EXPECT_EQ(l2_bytes(p), 6u << 20);
}

TEST(GpuFiles, Gtx480Moves177GigabytesPerSecond) {
  const MemoryParameters p = memory_of("gtx480");
  EXPECT_NEAR(peak(p), 177.4e9, 1e9);
  EXPECT_EQ(l2_bytes(p), 768u << 10);
}

TEST(GpuFiles, K20Moves256GigabytesPerSecond) {
  const MemoryParameters p = memory_of("k20");
  EXPECT_NEAR(peak(p), 256e9, 1e9);
  EXPECT_EQ(l2_bytes(p), 2u << 20);
}

TEST(GpuFiles, TheMaxwellsHaveTheirPapersShape) {
  const MemoryParameters mask = memory_of("mask_maxwell"), mosaic = memory_of("mosaic_maxwell");
  EXPECT_EQ(mask.partitions * mask.l2.total_banks(), 16u);
  EXPECT_EQ(l2_bytes(mask), 2u << 20);
  EXPECT_EQ(mosaic.partitions * mosaic.l2.total_banks(), 12u);
  EXPECT_NEAR(double(l2_bytes(mosaic)), 2 << 20, 0.02 * (2 << 20));
  EXPECT_EQ(mask.dram.banks, 8u);
  EXPECT_EQ(mask.l2.mshrs, mask.l2.banks * 32u);
}

TEST(GpuFiles, TheFermiOfMedicWritesThroughTwelveBanks) {
  const MemoryParameters p = memory_of("medic_fermi");
  EXPECT_EQ(p.partitions * p.l2.total_banks(), 12u);
  EXPECT_EQ(l2_bytes(p), 768u << 10);
  EXPECT_EQ(p.l2.write, L2Write::through);
  EXPECT_EQ(p.dram.banks, 8u);
  EXPECT_NEAR(peak(p), 161e9, 1e9);
}

TEST(GpuFiles, TheV100OfUvmSmartHas32SlicesBehindASlowerCrossbar) {
  const MemoryParameters p = memory_of("uvmsmart_v100");
  EXPECT_NEAR(peak(p), 900e9, 5e9);
  EXPECT_EQ(p.partitions * p.l2.slices, 32u);
  EXPECT_EQ(p.l2.size.count(), 192u << 10);
}

/// 16 channels of two pseudo-channels in each of 5 stacks, 32 bits at 5.2 Gb/s (JESD238).
TEST(GpuFiles, H100Moves3352GigabytesPerSecondThrough160PseudoChannels) {
  const MemoryParameters p = memory_of("h100");
  EXPECT_NEAR(peak(p), 3352e9, 2e9);
  EXPECT_EQ(p.bytes_per_second(), static_cast<std::uint64_t>(peak(p)));
  EXPECT_EQ(p.partitions * p.dram.channels, 5u * 16 * 2);
  EXPECT_EQ(p.dram.row.count(), 1u << 10);
  EXPECT_EQ(l2_bytes(p), 50u << 20);
}

TEST(GpuFiles, TinyIsReadable) {
  EXPECT_EQ(memory_of("tiny").partitions, 2u);
}

}  // namespace
}  // namespace lockstep::gpu_files_test
