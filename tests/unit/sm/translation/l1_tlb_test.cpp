/// What the first-level TLB says of a span of pages, beside what it says page by page.
#include "models/sm/translation/l1_tlb.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "models/vm/vm_parameters.hpp"

namespace lockstep::l1_tlb_test {
namespace {

constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;

TlbKey key_of(std::uint64_t page, std::uint16_t tenant) {
  return TlbKey::base({TenantId{tenant}, VirtualPage{page}});
}

/// A TLB of a few pages and large pages of two tenants, some of them in host memory, under some of
/// which stores went out; with `flushed` it has lost those of a tenant and got others.
L1Tlb random_tlb(unsigned seed, bool flushed) {
  auto parameters = defaults<L1TlbParameters>();
  parameters.entries = 64;
  parameters.large_entries = 4;
  L1Tlb tlb(parameters);
  std::mt19937 random(seed);
  for (int i = 0; i < 60; ++i) {
    const TlbKey key = key_of(random() % 2048, random() % 4 == 0);
    const bool large = random() % 16 == 0, remote = random() % 4 == 0;
    const std::uint64_t frame = (random() % 512 + 1) << (large ? 21 : 12);
    tlb.fill(key, PageTableEntry::of(frame, writable | (large ? PageTableEntry::large : 0) |
                                                (remote ? PageTableEntry::remote : 0)));
    if (random() % 2 == 0) tlb.note_store(key);
    if (flushed && i == 40) tlb.flush(TenantId{0});
  }
  return tlb;
}

std::string state_of(L1Tlb& tlb) {
  std::stringstream bytes;
  Archive archive = Archive::saving(bytes);
  archive(tlb);
  return bytes.str();
}

bool bit(const PageBits& bits, std::uint32_t i) {
  return (bits[i / 64] >> (i % 64) & 1) != 0;
}

TEST(L1TlbSpans, MarkThePagesUnderWhichStoresWentOut) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    L1Tlb tlb = random_tlb(seed, seed % 2 != 0);
    const std::uint64_t begin = 97 * seed % 1500;
    const std::uint32_t count = 1 + 31 * seed % 512;
    PageBits stored{};
    tlb.mark_stored({TenantId{0}, VirtualPage{begin}}, count, stored);
    for (std::uint32_t i = 0; i < 512; ++i)
      EXPECT_EQ(bit(stored, i), i < count && tlb.stored_under(key_of(begin + i, 0))) << seed;
  }
}

TEST(L1TlbSpans, DroppingMarkedPagesIsDroppingAll) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    L1Tlb some = random_tlb(seed, seed % 2 != 0), all = random_tlb(seed, seed % 2 != 0);
    const std::uint64_t begin = 89 * seed % 1500;
    const std::uint32_t count = 1 + 37 * seed % 512;
    PageBits marked{};
    some.mark({TenantId{0}, VirtualPage{begin}}, count, marked);
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool was_there = all.drop(key_of(begin + i, 0));
      EXPECT_EQ(bit(marked, i) && some.drop(key_of(begin + i, 0)), was_there) << seed;
    }
    EXPECT_EQ(state_of(some), state_of(all)) << seed;
  }
}

}  // namespace
}  // namespace lockstep::l1_tlb_test
