#include "models/driver/residency.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "tests/unit/driver/managed_page_literal.hpp"

namespace lockstep::residency_test {
namespace {

std::uint32_t add(Residency& residency, std::uint16_t tenant, std::uint32_t buffer,
                  std::uint64_t page, std::uint64_t pages) {
  return residency.add(TenantId{tenant}, BufferId{buffer}, VirtualPage{page}, pages);
}
const Allocation* find(const Residency& residency, std::uint16_t tenant, std::uint64_t page) {
  return residency.find(TenantId{tenant}, VirtualPage{page});
}

TEST(Residency, AllocationsGetPageNumbersFromMultiplesOf512) {
  Residency residency;
  const std::uint32_t a = add(residency, 0, 0, 7, 3), b = add(residency, 0, 1, 20, 513),
                      c = add(residency, 1, 0, 7, 1);
  EXPECT_EQ(residency.allocation(a).first, 0_page);
  EXPECT_EQ(residency.allocation(b).first, 512_page);
  EXPECT_EQ(residency.allocation(c).first, 1536_page);
  EXPECT_EQ(residency.end(), 2048_page);
  EXPECT_EQ(&residency.owner(1024_page), &residency.allocation(b));
}

TEST(Residency, FindsTheAllocationOfATenantsPage) {
  Residency residency;
  const std::uint32_t high = add(residency, 1, 0, 1000, 10), low = add(residency, 1, 1, 100, 10),
                      other = add(residency, 0, 0, 104, 10);
  EXPECT_EQ(find(residency, 1, 100), &residency.allocation(low));
  EXPECT_EQ(find(residency, 1, 109), &residency.allocation(low));
  EXPECT_EQ(find(residency, 1, 1005), &residency.allocation(high));
  EXPECT_EQ(find(residency, 0, 109), &residency.allocation(other));
}

TEST(Residency, PagesBesideAllocationsBelongToNone) {
  Residency residency;
  EXPECT_EQ(find(residency, 0, 5), nullptr);
  add(residency, 0, 0, 100, 10);
  add(residency, 2, 0, 100, 10);
  EXPECT_EQ(find(residency, 0, 99), nullptr);
  EXPECT_EQ(find(residency, 0, 110), nullptr);
  EXPECT_EQ(find(residency, 1, 105), nullptr);
  EXPECT_EQ(find(residency, 3, 105), nullptr);
}

TEST(Residency, RemovedAllocationIsNotFoundAndItsNumbersAreUsedAgain) {
  Residency residency;
  const std::uint32_t a = add(residency, 0, 0, 100, 600);
  add(residency, 0, 1, 2000, 10);
  residency.set_place(599_page, PagePlace::gpu);
  residency.remove(a);
  EXPECT_EQ(find(residency, 0, 150), nullptr);
  EXPECT_NE(find(residency, 0, 2000), nullptr);
  const std::uint32_t b = add(residency, 1, 3, 5000, 1000);  // also two trees
  EXPECT_EQ(residency.allocation(b).first, 0_page);
  EXPECT_EQ(residency.place(599_page), PagePlace::host);
  EXPECT_EQ(find(residency, 1, 5999), &residency.allocation(b));
  EXPECT_EQ(residency.end(), 1536_page);
}

TEST(Residency, ValidIsWhatIsInGpuMemoryOrOnItsWay) {
  Residency residency;
  add(residency, 0, 0, 0, 16);
  const PagePlace places[] = {PagePlace::host, PagePlace::arriving, PagePlace::gpu,
                              PagePlace::leaving, PagePlace::remote};
  for (ManagedPage page = 0_page; page < 5_page; ++page)
    residency.set_place(page, places[page.value()]);
  EXPECT_EQ(residency.count_valid(0_page, 16), 2u);
  EXPECT_EQ(residency.count_valid(2_page, 1), 1u);
  EXPECT_EQ(residency.count_valid(3_page, 13), 0u);
}

TEST(Residency, RestoredOneKnowsTheSame) {
  Residency saved;
  add(saved, 0, 0, 100, 10);
  const std::uint32_t gone = add(saved, 0, 1, 200, 10);
  add(saved, 1, 0, 50, 600);
  saved.set_place(5_page, PagePlace::gpu);
  saved.remove(gone);
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  saving(saved);
  Residency restored;
  Archive restoring = Archive::restoring(bytes);
  restoring(restored);
  EXPECT_EQ(restored.place(5_page), PagePlace::gpu);
  EXPECT_EQ(find(restored, 0, 205), nullptr);
  ASSERT_NE(find(restored, 1, 649), nullptr);
  EXPECT_EQ(find(restored, 1, 649)->first, find(saved, 1, 649)->first);
  EXPECT_EQ(restored.allocation(add(restored, 0, 2, 300, 10)).first, saved.allocation(gone).first);
}

}  // namespace
}  // namespace lockstep::residency_test
