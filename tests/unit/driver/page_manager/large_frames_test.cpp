/// CoCoA: which frames tenants get.
/// Source: memory-interference.md, sections 6.3.2 and 11.
#include "models/driver/page_manager/mosaic/large_frames.hpp"

#include <gtest/gtest.h>

#include "models/driver/page_manager/page_manager.hpp"
#include "models/isa/types.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::large_frames_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr TenantId one{0}, other{1};

std::unique_ptr<PageManager> mosaic(std::uint64_t large_frames) {
  return make_page_manager(policy_named(page_manager_policies(), "mosaic"),
                           {large_frames * large_page_bytes, 2});
}
TenantPages pages(TenantId tenant, std::uint64_t from_bytes, std::uint64_t bytes) {
  constexpr std::uint64_t base = isa::first_global_address;
  return {tenant, VirtualPage{(base + from_bytes) / page_bytes}, bytes / page_bytes};
}
std::uint64_t frame_of_run(const FrameRun& run) {
  return run.physical / large_page_bytes;
}

TEST(Cocoa, AlignedAddressesGetWholeFrames) {
  const auto manager = mosaic(8);
  const auto runs = manager->allocate(pages(one, 0, 4 * mib), false);
  ASSERT_EQ(runs.size(), 1u) << "frames that are neighbours";
  EXPECT_EQ(runs[0], (FrameRun{large_page_bytes, 2 * large_page_bytes}));
}

/// 3 MiB that begin 1 MiB before a boundary.
TEST(Cocoa, WhatIsNotAlignedGetsBasePagesAndTheRestALargeFrame) {
  const auto manager = mosaic(8);
  const auto runs = manager->allocate(pages(one, mib, 3 * mib), false);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0], (FrameRun{large_page_bytes, mib})) << "256 pages of the free base list";
  EXPECT_EQ(runs[1], (FrameRun{2 * large_page_bytes, large_page_bytes}));
}

TEST(Cocoa, BasePagesOfOneTenantFillItsFramesAndNoOthers) {
  const auto manager = mosaic(8);
  const auto first = manager->allocate(pages(one, 0, mib), false);
  const auto second = manager->allocate(pages(other, 0, mib), false);
  const auto third = manager->allocate(pages(one, 3 * mib, mib / 2), false);
  EXPECT_EQ(frame_of_run(first[0]), 1u);
  EXPECT_EQ(frame_of_run(second[0]), 2u);
  EXPECT_EQ(third[0], (FrameRun{large_page_bytes + mib, mib / 2}));
}

TEST(Cocoa, PagesThatComeOneByOneKeepTheirPlaceInTheFrameOfTheirAddresses) {
  const auto manager = mosaic(8);
  manager->reserved(pages(one, 0, 2 * mib));  // a managed buffer
  for (const std::uint64_t page : {7u, 300u, 0u, 511u}) {
    const auto runs = manager->allocate(pages(one, page * page_bytes, page_bytes), true);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].physical, large_page_bytes + page * page_bytes);
  }
  manager->reserved(pages(one, 4 * mib, mib));  // too small for a large page
  EXPECT_EQ(frame_of_run(manager->allocate(pages(one, 4 * mib, page_bytes), true)[0]), 2u);
}

TEST(Cocoa, EmptyFrameIsAnybodysAgain) {
  const auto manager = mosaic(2);
  class : public PageServices {
    bool coalesce(TenantId, VirtualPage) override { return false; }
    bool splinter(TenantId, VirtualPage) override { return false; }
    bool copy(TenantId, VirtualPage, Frame) override { return false; }
    void move_foreign(std::uint32_t, Frame) override {}
  } services;
  const auto runs = manager->allocate(pages(one, 0, page_bytes), false);
  EXPECT_EQ(frame_of_run(runs[0]), 1u);
  manager->free(one, runs, services);
  EXPECT_EQ(frame_of_run(manager->allocate(pages(other, 0, page_bytes), false)[0]), 1u);
}

TEST(Cocoa, GuaranteeIsSoft) {
  LargeFrames frames(2 * large_page_bytes, 2);
  frames.take(0);
  frames.take(1);
  EXPECT_EQ(frames.take_violations(), 0u);
  for (int i = 1; i < 512; ++i) EXPECT_EQ(LargeFrames::number_of(frames.take(0)), 0u);
  EXPECT_EQ(frames.take_violations(), 0u);
  EXPECT_EQ(LargeFrames::number_of(frames.take(0)), 1u) << "of the other owner";
  EXPECT_EQ(frames.take_violations(), 1u);
}

TEST(Cocoa, TablesLieInFramesOfTheirOwn) {
  const auto manager = mosaic(4);
  manager->allocate(pages(one, 0, page_bytes), false);
  std::vector<TableWrite> writes;
  manager->reserve(pages(one, 0, page_bytes), writes);
  EXPECT_LT(manager->tables().root(one).value(), large_page_bytes);
}

}  // namespace
}  // namespace lockstep::large_frames_test
