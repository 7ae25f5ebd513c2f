/// Bulk copies in an SM: what they bring, when, and what may come between.
/// Source: PTX ISA 8.x, "cp.async.bulk"; modern-isa.md, sections 3.3 and 5.6.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::bulk_engine_test {
namespace {

constexpr std::uint64_t in = 0x10000;
const std::string declarations = ".shared .align 16 .b8 room[4096];\n.shared .align 8 .b64 gate;\n";

/// Thread 0 brings n bytes of in to room, all threads wait for them; then thread 0 stores room to
/// out in halves, and waits for that.
std::string there_and_back(const std::string& between = "", unsigned threads = 64) {
  return R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ready;
  mbarrier.init.shared.b64 [gate], 1;
ready:
  bar.sync 0;
  @%p1 bra wait;
  mbarrier.arrive.expect_tx.shared.b64 %rd2, [gate], %r0;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], %r0, [gate];
)" + between +
         R"(
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;
  @!%p2 bra wait;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r2, %r4;
  ld.shared.u32 %r6, [%r5];
  add.u32 %r6, %r6, 1;
  st.shared.u32 [%r5], %r6;
  bar.sync 0, )" +
         std::to_string(threads) + R"(;
  @%p1 bra done;
  fence.proxy.async.shared::cta;
  shr.u32 %r7, %r0, 5;
  shl.b32 %r7, %r7, 4;
  sub.u32 %r8, %r0, %r7;
  cvt.u64.u32 %rd3, %r7;
  add.u64 %rd4, %rd0, %rd3;
  add.u32 %r9, %r2, %r7;
  cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], %r7;
  cp.async.bulk.commit_group;
  cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r9], %r8;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 1;
  cp.async.bulk.wait_group 0;
done:
)";
}

IdealMachine::Options with_engine() {
  IdealMachine::Options options;
  options.parameters.bulk.lines_in_flight = 64;
  return options;
}

constexpr std::uint32_t bytes = 1008, words = bytes / 4, shift = 48;

void start(IdealMachine& machine, std::uint32_t of_bytes = bytes, std::uint32_t threads = 64) {
  for (std::uint32_t w = 0; w < 1024; ++w)
    machine.put<std::uint32_t>(in + shift + 4 * w, 1'000'000 + w);
  machine.launch("k", {1, 1, 1}, {threads, 1, 1},
                 {machine.address(16), machine.address(in + shift), of_bytes});
}

void expect_results(const IdealMachine& machine, std::uint32_t threads = 64) {
  for (std::uint32_t w = 0; w < words; ++w)
    ASSERT_EQ(machine.get<std::uint32_t>(16 + 4 * w), 1'000'000 + w + (w < threads ? 1 : 0)) << w;
  EXPECT_EQ(machine.get<std::uint32_t>(16 + bytes), 0u);
  EXPECT_EQ(machine.get<std::uint32_t>(12), 0u);
}

TEST(BulkEngine, BringsAndStoresBytesAcrossLines) {
  IdealMachine machine(kernel_of(there_and_back(), declarations), with_engine());
  start(machine);
  machine.run(90, 100'000);
  expect_results(machine);
}

TEST(BulkEngine, AsksForALineACycle) {
  IdealMachine machine(kernel_of(there_and_back(), declarations), with_engine());
  machine.record = true;
  start(machine);
  machine.run(90, 100'000);
  machine.sort_seen();
  std::vector<std::int64_t> loads, stores;
  for (const auto& seen : machine.seen)
    (seen.request.operation == MemoryOperation::load ? loads : stores).push_back(seen.departure);
  ASSERT_EQ(loads.size(), 9u) << "1008 bytes from 48 on touch nine lines";
  EXPECT_GE(loads.back() - loads.front(), 8);
  ASSERT_EQ(stores.size(), 8u) << "496 bytes from 16 on and 512 from 512 on touch four each";
  const auto& counts = machine.statistics().tenant[0];
  EXPECT_EQ(counts.bulk_copies.value(), 3u);
  EXPECT_EQ(counts.bulk_lines.value(), 17u);
  EXPECT_EQ(counts.async_copy_bytes.value(), bytes);
}

TEST(BulkEngine, IsLateBecauseOfItsStartAndOfEachCopyBefore) {
  const auto first_load = [](Cycles latency, Cycles interval, bool second) {
    IdealMachine::Options options = with_engine();
    options.parameters.bulk.start_latency = latency;
    options.parameters.bulk.start_interval = interval;
    IdealMachine machine(
        kernel_of(there_and_back("cp.async.bulk.prefetch.L2.global [%rd1+4096], 16;\n"),
                  declarations),
        options);
    machine.record = true;
    start(machine, 16);
    machine.run(90, 100'000);
    machine.sort_seen();
    std::vector<std::int64_t> loads;
    for (const auto& seen : machine.seen)
      if (seen.request.operation == MemoryOperation::load) loads.push_back(seen.departure);
    EXPECT_EQ(loads.size(), 2u);
    return loads[second ? 1 : 0];
  };
  const std::int64_t soon = first_load(Cycles(20), Cycles(32), false);
  EXPECT_EQ(first_load(Cycles(120), Cycles(32), false), soon + 100);
  EXPECT_EQ(first_load(Cycles(20), Cycles(32), true), soon + 32);
  EXPECT_EQ(first_load(Cycles(20), Cycles(80), true), soon + 80);
}

TEST(BulkEngine, GoesOnWithOneLineAtATimeAndAFullQueue) {
  IdealMachine::Options options = with_engine();
  options.parameters.bulk.lines_in_flight = 1;
  options.parameters.bulk.queue = 1;
  IdealMachine machine(
      kernel_of(there_and_back(times(5, "cp.async.bulk.prefetch.L2.global [%rd1], 64;\n")),
                declarations),
      options);
  start(machine);
  machine.run(90, 100'000);
  expect_results(machine);
}

TEST(BulkEngine, AWarpThatEndsLeavesItsCopiesToComeThrough) {
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, room;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gate], 1;
ready:
    bar.sync 0;
    setp.lt.u32 %p2, %r1, 32;
    @!%p2 bra wait;
    @%p1 bra done;
    mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [gate];
    bra done;
wait:
    mbarrier.try_wait.parity.shared.b64 %p3, [gate], 0;
    @!%p3 bra wait;
    and.b32 %r3, %r1, 31;
    shl.b32 %r3, %r3, 2;
    add.u32 %r4, %r2, %r3;
    ld.shared.u32 %r5, [%r4];
    cvt.u64.u32 %rd3, %r3;
    add.u64 %rd3, %rd0, %rd3;
    st.global.u32 [%rd3], %r5;
done:
)",
                                 declarations),
                       with_engine());
  start(machine);
  const std::int64_t end = machine.run(90, 100'000);
  for (std::uint32_t w = 0; w < 32; ++w)
    EXPECT_EQ(machine.get<std::uint32_t>(16 + 4 * w), 1'000'000 + w);
  EXPECT_LT(end, 10'000) << "it did not wait for its time to be up";
}

TEST(BulkEngine, AWaitForReadsIsShorterThanOneForWrites) {
  const auto end_with = [](const std::string& wait) {
    std::string body = there_and_back();
    body.replace(body.find("cp.async.bulk.wait_group 0;"), 27,
                 wait + "\nst.global.u32 [%rd0+2048], 1;");
    IdealMachine machine(kernel_of(body, declarations), with_engine());
    machine.record = true;
    start(machine);
    machine.run(90, 100'000);
    machine.sort_seen();
    return machine.seen.back().departure;
  };
  const std::int64_t written = end_with("cp.async.bulk.wait_group 0;");
  const std::int64_t read = end_with("cp.async.bulk.wait_group.read 0;");
  EXPECT_GT(written, read + 150) << "there, and the acknowledgement back";
}

TEST(BulkEngine, GoesThroughACheckpointAtAnyCycle) {
  const isa::Module module = kernel_of(there_and_back(), declarations);
  IdealMachine whole(module, with_engine());
  start(whole);
  const std::int64_t end = whole.run();
  for (std::int64_t stop = 10; stop < end; stop += 7) {
    IdealMachine machine(module, with_engine());
    start(machine);
    machine.run_to(stop);
    machine.save_and_restore();
    ASSERT_EQ(machine.run(), end) << stop;
    ASSERT_EQ(machine.memory(), whole.memory()) << stop;
  }
}

TEST(BulkEngine, LinesWaitForPagesUnderEverySchemeAndTheWarpIssuesNothingAgain) {
  for (const std::string scheme : {"stall-on-fault", "warp-disable-commit",
                                   "warp-disable-last-check", "replay-queue", "operand-log"}) {
    IdealMachine::Options options = with_engine();
    options.exception_scheme = scheme;
    options.knows_pages = false;
    IdealMachine machine(kernel_of(there_and_back(), declarations), options);
    // The copy begins in one page and ends in the next.
    constexpr std::uint64_t at = in + page_bytes - 512;
    const auto refuse = [&](std::uint64_t offset) {
      machine.pages[IdealMachine::page_of(offset)].status = TranslationStatus::refused;
    };
    refuse(at);
    refuse(at + 512);
    refuse(16);
    for (std::uint32_t w = 0; w < words; ++w) machine.put<std::uint32_t>(at + 4 * w, 1'000'000 + w);
    machine.launch("k", {1, 1, 1}, {64, 1, 1}, {machine.address(16), machine.address(at), bytes});
    machine.run_to(2000);
    EXPECT_EQ(machine.get<std::uint32_t>(16), 0u) << scheme;
    machine.page_comes(IdealMachine::page_of(at + 512));
    machine.run_to(4000);
    EXPECT_EQ(machine.get<std::uint32_t>(16), 0u) << scheme;
    machine.save_and_restore();
    machine.page_comes(IdealMachine::page_of(at));
    machine.run_to(6000);
    machine.page_comes(IdealMachine::page_of(16));
    machine.run(90, 100'000);
    expect_results(machine);
    EXPECT_EQ(machine.statistics().tenant[0].reissued_instructions.value(), 0u) << scheme;
    EXPECT_EQ(machine.statistics().tenant[0].bulk_copies.value(), 3u) << scheme;
  }
}

TEST(BulkEngine, ATenantThatEndsLeavesNothingUnderWay) {
  for (const std::string scheme : {"stall-on-fault", "replay-queue"}) {
    for (std::int64_t end = 40; end < 1000; end += 13) {
      IdealMachine::Options options = with_engine();
      options.parameters.bulk.lines_in_flight = 3;
      options.parameters.bulk.queue = 1;
      options.exception_scheme = scheme;
      options.knows_pages = false;
      IdealMachine machine(
          kernel_of(there_and_back(times(5, "cp.async.bulk.prefetch.L2.global [%rd1], 640;\n")),
                    declarations),
          options);
      const bool faults = end % 2 == 0;
      if (faults) machine.pages[IdealMachine::page_of(in)].status = TranslationStatus::refused;
      start(machine);
      machine.post(0, end, MessageKind::abort_tenant, TenantNotice{0, {}});
      machine.run_to(end + 200);
      if (faults) machine.page_comes(IdealMachine::page_of(in));
      ASSERT_LT(machine.run(90, 20'000), 20'000) << scheme << " " << end;
      ASSERT_TRUE(machine.sm().finished()) << scheme << " " << end;
    }
  }
}

}  // namespace
}  // namespace lockstep::bulk_engine_test
