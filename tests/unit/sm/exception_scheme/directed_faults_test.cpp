/// Faults at the places where issuing again could go wrong: every scheme leaves what a machine
/// without faults leaves.
/// Source: virtual-memory-and-exceptions.md, section 2.8; 000, section 2.5 (the two hazards).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/vm/messages.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::directed_faults_test {
namespace {

/// out stands in pages 0 to 3 of the memory, in behind them.
constexpr std::uint64_t in = 4 * page_bytes, bytes = 8 * page_bytes;

struct Outcome {
  std::vector<std::byte> out;
  std::uint64_t squashed = 0, reissued = 0, executed = 0;
};

/// All pages are refused at first; they come one by one, `order` says how.
Outcome run(const std::string& body, const std::string& scheme, bool faults, bool backwards,
            std::uint32_t threads) {
  IdealMachine::Options options;
  options.knows_pages = false;
  options.memory_bytes = bytes;
  options.exception_scheme = scheme;
  options.parameters.source_release = SourceRelease::operand_read;
  IdealMachine machine(kernel_of(body, ".shared .align 8 .b8 room[1024];\n"), options);
  for (std::uint64_t at = 0; at < bytes - in; at += 4)
    machine.put<std::uint32_t>(in + at, static_cast<std::uint32_t>(at * 2654435761u >> 7));
  const std::map<std::uint64_t, IdealMachine::PageState> present = machine.pages;
  if (faults)
    for (auto& [page, state] : machine.pages) state = {TranslationStatus::refused, {}};
  machine.launch("k", {1, 1, 1}, {threads, 1, 1}, {machine.address(0), machine.address(in), 7});
  std::vector<std::uint64_t> pages;
  for (const auto& [page, state] : present) pages.push_back(page);
  if (backwards) std::reverse(pages.begin(), pages.end());
  for (std::uint64_t page : pages) {
    if (!faults) break;
    machine.run_to(machine.cycle() + 700);
    machine.pages[page] = present.at(page);
    machine.post(0, machine.cycle() + 1, MessageKind::replay, PageNotice{page, 0, 0, 0});
  }
  machine.run();
  const void* values =
      machine.sm().statistics(machine.clock().edge(Cycles{machine.cycle()})).values;
  const SmStatistics::OfTenant& counts = static_cast<const SmStatistics*>(values)->tenant[0];
  Outcome outcome;
  outcome.out.assign(machine.memory().begin(), machine.memory().begin() + in);
  outcome.squashed = counts.squashed_instructions.value();
  outcome.reissued = counts.reissued_instructions.value();
  outcome.executed = counts.warp_instructions.value();
  return outcome;
}

class DirectedFaults : public testing::TestWithParam<std::string> {
 protected:
  void expect_no_difference(const std::string& body, std::uint32_t threads = 64) {
    const Outcome without = run(body, "stall-on-fault", false, false, threads);
    EXPECT_EQ(without.squashed, 0u);
    for (const bool backwards : {false, true}) {
      const Outcome with = run(body, GetParam(), true, backwards, threads);
      EXPECT_EQ(with.out, without.out) << "backwards: " << backwards;
      EXPECT_EQ(with.executed, without.executed) << "reissued instructions are counted apart";
      if (GetParam() == "stall-on-fault") {
        EXPECT_EQ(with.squashed, 0u);
      } else {
        EXPECT_GT(with.squashed, 0u);
        EXPECT_EQ(with.reissued, with.squashed);
      }
    }
  }
};

/// %rd2: the thread's place in in, %rd3: in out, 4 bytes for each thread; %r1: its number.
const std::string places =
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd9, %r1, 4;\nadd.u64 %rd2, %rd1, %rd9;\n"
    "add.u64 %rd3, %rd0, %rd9;\n";

TEST_P(DirectedFaults, AnAddressRegisterIsOverwrittenBehindItsLoad) {
  expect_no_difference(
      places +
          "ld.global.u32 %r2, [%rd2];\nadd.u64 %rd2, %rd2, 8192;\n"
          "ld.global.u32 %r3, [%rd2];\nmov.u64 %rd2, 77;\n"
          "add.u32 %r4, %r2, %r3;\nst.global.u32 [%rd3], %r4;\ncvt.u32.u64 %r5, %rd2;\n"
          "st.global.u32 [%rd3+4096], %r5;\n",
      32);
}

TEST_P(DirectedFaults, DataIsOverwrittenBehindItsStore) {
  expect_no_difference(places +
                       "add.u32 %r2, %r1, 1000;\nst.global.u32 [%rd3], %r2;\n"
                       "add.u32 %r2, %r2, 1;\nst.global.u32 [%rd3+4096], %r2;\n"
                       "add.u32 %r2, %r2, 1;\nst.global.u32 [%rd3+8192], %r2;\n");
}

TEST_P(DirectedFaults, ALoadGoesToItsOwnAddressRegister) {
  // Every other lane loads from another page.
  expect_no_difference(places +
                       "and.b32 %r5, %r1, 1;\nmul.wide.u32 %rd8, %r5, 8192;\n"
                       "add.u64 %rd2, %rd2, %rd8;\nand.b64 %rd2, %rd2, -8;\n"
                       "ld.global.u64 %rd2, [%rd2];\nmul.wide.u32 %rd7, %r1, 8;\n"
                       "add.u64 %rd3, %rd0, %rd7;\nst.global.u64 [%rd3], %rd2;\n");
}

TEST_P(DirectedFaults, AStoreStaysInFrontOfALoadByAnotherWarpBehindABarrier) {
  expect_no_difference(places +
                       "st.global.u32 [%rd3], %r1;\nbar.sync 0;\n"
                       "mov.u32 %r2, 63;\nsub.u32 %r2, %r2, %r1;\nmul.wide.u32 %rd8, %r2, 4;\n"
                       "add.u64 %rd7, %rd0, %rd8;\nld.global.u32 %r3, [%rd7];\n"
                       "st.global.u32 [%rd3+4096], %r3;\n");
}

TEST_P(DirectedFaults, AYoungerLoadDoesNotPassTheStoreToItsPage) {
  expect_no_difference(places +
                       "st.global.u32 [%rd3], %r1;\nld.global.u32 %r3, [%rd3];\n"
                       "add.u32 %r3, %r3, 5;\nst.global.u32 [%rd3], %r3;\n"
                       "ld.global.u32 %r4, [%rd3];\nst.global.u32 [%rd3+8192], %r4;\n");
}

TEST_P(DirectedFaults, OnlyOneArmOfABranchFaults) {
  expect_no_difference(places +
                       "setp.lt.u32 %p1, %r1, 11;\n@%p1 bra low;\n"
                       "ld.global.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 3;\nbra.uni join;\n"
                       "low:\nmov.u32 %r2, %r1;\njoin:\nst.global.u32 [%rd3], %r2;\n");
}

TEST_P(DirectedFaults, AtomicsOnTwoPagesHappenOncePerLane) {
  expect_no_difference(places +
                       "and.b32 %r5, %r1, 3;\nmul.wide.u32 %rd8, %r5, 4096;\n"
                       "add.u64 %rd7, %rd0, %rd8;\natom.global.add.u32 %r6, [%rd7], %r1;\n"
                       "red.global.add.u32 [%rd7+4], 1;\n");
}

TEST_P(DirectedFaults, AWideStoreOnTwoPagesKeepsAllItsWords) {
  expect_no_difference(places +
                       "mul.wide.u32 %rd8, %r1, 160;\nadd.u64 %rd7, %rd0, %rd8;\n"
                       "add.u32 %r3, %r1, 1;\nadd.u32 %r4, %r1, 2;\nadd.u32 %r5, %r1, 3;\n"
                       "st.global.v4.u32 [%rd7], {%r1, %r3, %r4, %r5};\n");
}

TEST_P(DirectedFaults, SharedLanesOfAGenericAtomicAreNotDoneTwice) {
  // Odd lanes count in shared memory, even ones in a page.
  expect_no_difference(places +
                       "mov.u64 %rd7, room;\ncvta.shared.u64 %rd7, %rd7;\nmov.u32 %r2, 0;\n"
                       "st.u32 [%rd7], %r2;\nbar.sync 0;\nand.b32 %r5, %r1, 1;\n"
                       "setp.eq.u32 %p1, %r5, 1;\nselp.b64 %rd8, %rd7, %rd0, %p1;\n"
                       "atom.add.u32 %r6, [%rd8], 1;\nbar.sync 0;\nld.u32 %r7, [%rd7];\n"
                       "st.global.u32 [%rd3+4096], %r7;\n");
}

TEST_P(DirectedFaults, AnAcquireWaitsForItsFault) {
  expect_no_difference(places +
                       "ld.acquire.gpu.global.u32 %r2, [%rd2];\nst.global.u32 [%rd3], %r2;\n"
                       "st.release.gpu.global.u32 [%rd3+4096], %r1;\n");
}

TEST_P(DirectedFaults, TheLastStoreBeforeTheEndIsNotLost) {
  expect_no_difference(places + "st.global.u32 [%rd3+12288], %r1;\n", 256);
}

std::vector<std::string> schemes() {
  std::vector<std::string> all;
  for (const PolicyInfo& info : exception_scheme_policies()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryScheme, DirectedFaults, testing::ValuesIn(schemes()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep::directed_faults_test
