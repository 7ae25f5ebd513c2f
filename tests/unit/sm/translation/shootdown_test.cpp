/// Translations taken away, and tenants ended, in the middle of things (architecture.md, section 8,
/// rules 5 and 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::shootdown_test {
namespace {

using testing::Contains;
using testing::ElementsAre;

constexpr auto writable = PageTableEntry::present | PageTableEntry::writable;

IdealMachine::Options cold() {
  IdealMachine::Options options;
  options.knows_pages = false;
  return options;
}

void shoot_down(IdealMachine& machine, std::int64_t at, std::uint64_t page, std::uint32_t count) {
  PageSpan span;
  span.page = IdealMachine::page_of(0) + page;
  span.count = count;
  std::vector<PageTableEntry> entries;
  for (std::uint32_t i = 0; i < count; ++i)
    entries.push_back(PageTableEntry::of((page + i) * page_bytes, writable));
  machine.post(0, at, MessageKind::shootdown, span, std::as_bytes(std::span(entries)));
}

std::int64_t departure_of(const IdealMachine& machine, const std::string& text) {
  for (const auto& told : machine.told)
    if (told.text == text) return told.departure;
  return -1;
}

void start(IdealMachine& machine, std::uint32_t threads = 1, std::uint16_t tenant = 0) {
  machine.record = true;
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(4096), 7}, 0,
                 tenant);
}

const std::string pause = R"(
      mov.u32 %r20, 0;
wait: add.u32 %r20, %r20, 1;
      setp.lt.u32 %p1, %r20, 100;
      @%p1 bra wait;
)";

TEST(Shootdown, UnusedPagesAreAnsweredAtOnce) {
  IdealMachine machine(kernel_of(""), cold());
  shoot_down(machine, 500, 3, 2);
  machine.run_to(1000);
  EXPECT_EQ(departure_of(machine, "shot 3+2 stored 0"), 500);
}

TEST(Shootdown, WaitsForRequestsSentAndTellsStores) {
  IdealMachine machine(kernel_of("st.global.u32 [%rd1], %r0;\nld.global.u32 %r1, [%rd0];\n"),
                       cold());
  start(machine);
  machine.run_to(200);
  machine.sort_seen();
  ASSERT_EQ(machine.seen.size(), 2u);
  const std::int64_t store = machine.seen[0].departure;
  shoot_down(machine, 210, 1, 1);
  machine.run();
  // There, served, and back.
  EXPECT_EQ(departure_of(machine, "shot 1+1 stored 1"), store + 140 + 33 + 20);
}

TEST(Shootdown, DoesNotWaitForOtherFramesOrParkedAccesses) {
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd1], %r0;\n"),
                       cold());
  machine.pages[IdealMachine::page_of(4096)].status = TranslationStatus::refused;
  start(machine);
  shoot_down(machine, 210, 1, 1);
  machine.run_to(1000);
  EXPECT_EQ(departure_of(machine, "shot 1+1 stored 0"), 210);
}

TEST(Shootdown, DropsTranslationAndCachedSectors) {
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\n" + pause +
                                 "ld.global.u32 %r2, [%rd0];\nst.global.u32 [%rd1], %r2;\n"),
                       cold());
  machine.put<std::uint32_t>(0, 5);
  start(machine);
  machine.run_to(500);
  ASSERT_EQ(machine.seen.size(), 1u);
  // The page moves.
  machine.put<std::uint32_t>(8192, 6);
  machine.pages[IdealMachine::page_of(0)].entry = PageTableEntry::of(8192, writable);
  shoot_down(machine, 600, 0, 1);
  shoot_down(machine, 600, 2, 1);  // a page that the TLB does not have
  machine.run();
  EXPECT_EQ(machine.get<std::uint32_t>(4096), 6u);
  EXPECT_EQ(machine.statistics().tenant[0].pages_shot_down.value(), 2u);
  EXPECT_EQ(machine.statistics().tenant[0].tlb_shot_down.value(), 1u);
}

TEST(Shootdown, DrainingLinesAskAgain) {
  // 32 lines of one page leave one per cycle.
  IdealMachine machine(kernel_of("mov.u32 %r1, %laneid;\nmul.wide.u32 %rd2, %r1, 128;\n"
                                 "add.u64 %rd3, %rd0, %rd2;\nst.global.u32 [%rd3], %r0;\n"),
                       cold());
  start(machine, 32);
  machine.run_to(92);
  ASSERT_EQ(machine.told.size(), 1u);
  const std::int64_t answer = machine.told[0].departure + 100;
  shoot_down(machine, answer + 4, 0, 1);
  machine.run();
  machine.sort_seen();
  ASSERT_EQ(machine.seen.size(), 32u);
  EXPECT_EQ(departure_of(machine, "shot 0+1 stored 1"), machine.seen[3].departure + 193);
  ASSERT_GE(machine.told.size(), 3u);
  EXPECT_EQ(machine.told[2].text, "translate 0 w");
  EXPECT_EQ(machine.told[2].departure, answer + 4);
  EXPECT_EQ(machine.seen[4].departure, answer + 4 + 100 + 10) << "10: injection";
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(machine.seen[i].request.line, 128 * i);
}

TEST(Shootdown, FlushDropsOnlyTranslations) {
  IdealMachine machine(kernel_of("ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\n" + pause +
                                 "ld.global.u32 %r2, [%rd0];\n"),
                       cold());
  start(machine);
  machine.post(0, 600, MessageKind::flush, TlbFlush{});
  machine.run();
  EXPECT_EQ(machine.told.size(), 2u);
  EXPECT_EQ(machine.seen.size(), 1u);
}

IdealMachine::Options two_tenants() {
  IdealMachine::Options options = cold();
  options.tenants = {"wrong", "right"};
  return options;
}

/// Loads, stores, atomics, barriers; tenant 0 runs it on page 0, tenant 1 from page 16 on.
isa::Module busy() {
  return kernel_of(R"(
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 64;
    add.u64 %rd3, %rd0, %rd2;
    add.u64 %rd4, %rd1, %rd2;
    mov.u32 %r20, 0;
again:
    ld.global.u32 %r2, [%rd3];
    add.u32 %r2, %r2, %r20;
    st.global.u32 [%rd4], %r2;
    atom.global.add.u32 %r5, [%rd0+8], 1;
    st.global.u32 [%rd3], %r5;
    bar.sync 0;
    ld.acquire.gpu.global.u32 %r6, [%rd4];
    membar.gl;
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p1, %r20, %r0;
    @%p1 bra again;
  )");
}

TEST(Abort, BlocksEndWhenTheirAnswersAreThereAndOthersGoOn) {
  for (const std::int64_t at : {130, 160, 250, 333, 480, 700, 1500}) {
    IdealMachine machine(busy(), two_tenants());
    const auto launch = [&](std::uint16_t tenant, std::uint32_t iterations) {
      const std::uint64_t base = tenant * 65536;
      machine.launch("k", {3, 1, 1}, {256, 1, 1},
                     {machine.address(base), machine.address(base + 32768), iterations}, 0, tenant);
    };
    launch(0, 100'000'000);
    launch(1, 3);
    machine.pages[IdealMachine::page_of(32768 + 4096)].status = TranslationStatus::refused;
    machine.post(0, at, MessageKind::abort_tenant, TenantNotice{0, {}});
    machine.run();
    machine.run_to(machine.cycle() + 2000);
    EXPECT_TRUE(machine.sm().finished()) << at;
    EXPECT_EQ(machine.sm().waiting_for(), "") << at;
    EXPECT_EQ(machine.get<std::uint32_t>(65536 + 8), 3u * 256 * 3) << at;
    EXPECT_LT(machine.cycle(), 50'000) << at;
  }
}

TEST(Abort, AfterAViolationTheNextKernelOfAnotherTenantRuns) {
  IdealMachine machine(kernel_of("setp.eq.u32 %p1, %r0, 7;\n@%p1 add.u64 %rd0, %rd0, %rd1;\n"
                                 "st.global.u32 [%rd0], %r0;\n"),
                       two_tenants());
  start(machine, 32, 0);
  machine.run_to(500);
  ASSERT_EQ(machine.told.size(), 2u);
  EXPECT_EQ(machine.told[1].text.substr(0, 9), "violation");
  machine.post(0, 600, MessageKind::abort_tenant, TenantNotice{0, {}});
  machine.launch("k", {1, 1, 1}, {1, 1, 1}, {machine.address(0), 0, 9}, 0, 1);
  machine.run();
  EXPECT_EQ(machine.get<std::uint32_t>(0), 9u);
  EXPECT_TRUE(machine.sm().finished());
}

}  // namespace
}  // namespace lockstep::shootdown_test
