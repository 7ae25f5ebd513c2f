/// Faults at the places where issuing again could go wrong: every scheme leaves what a machine
/// without faults leaves, also when the blocks that fault leave the SM and return.
/// Source: virtual-memory-and-exceptions.md, sections 2.8 and 9; 000, section 2.5 (the two
/// hazards).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

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
  std::uint64_t squashed = 0, reissued = 0, executed = 0, saved = 0, restored = 0;
};

/// How the SM takes faults.
struct Mechanism {
  std::string scheme = "stall-on-fault", switching = "none";
};

class OneRun {
 public:
  OneRun(const std::string& body, const Mechanism& mechanism, std::uint32_t blocks,
         std::uint32_t threads)
      : machine_(kernel_of(body, declarations), options(mechanism)) {
    for (std::uint64_t at = 0; at < bytes - in; at += 4)
      machine_.put<std::uint32_t>(in + at, static_cast<std::uint32_t>(at * 2654435761u >> 7));
    machine_.launch("k", {blocks, 1, 1}, {threads, 1, 1},
                    {machine_.address(0), machine_.address(in), 7});
  }

  /// All pages are refused at first; they come one by one, `backwards`: the last one first.
  Outcome with_faults(bool backwards) {
    constexpr std::uint32_t far_behind = 5;
    for (auto& [page, state] : machine_.pages) state = {TranslationStatus::refused, {}, far_behind};
    std::vector<std::uint64_t> pages;
    for (const auto& [page, state] : machine_.pages) pages.push_back(page);
    if (backwards) std::reverse(pages.begin(), pages.end());
    for (std::uint64_t page : pages) {
      machine_.run_to(machine_.cycle() + 700);
      machine_.page_comes(page);
    }
    return to_its_end();
  }
  Outcome to_its_end() {
    machine_.run();
    const SmStatistics::OfTenant& counts = machine_.statistics().tenant[0];
    Outcome outcome;
    outcome.out.assign(machine_.memory().begin(), machine_.memory().begin() + in);
    outcome.squashed = counts.squashed_instructions.value();
    outcome.reissued = counts.reissued_instructions.value();
    outcome.executed = counts.warp_instructions.value();
    outcome.saved = counts.blocks_saved.value();
    outcome.restored = counts.blocks_restored.value();
    return outcome;
  }

 private:
  static constexpr const char* declarations =
      ".shared .align 8 .b8 room[1024];\n.local .align 8 .b8 own[64];\n";
  /// One block at a time.
  static IdealMachine::Options options(const Mechanism& mechanism) {
    IdealMachine::Options options;
    options.knows_pages = false;
    options.memory_bytes = bytes;
    options.exception_scheme = mechanism.scheme;
    options.block_switching = mechanism.switching;
    options.parameters.source_release = SourceRelease::operand_read;
    options.parameters.blocks = 1;
    return options;
  }

  IdealMachine machine_;
};

class DirectedFaults : public testing::TestWithParam<Mechanism> {
 protected:
  void expect_no_difference(const std::string& body, std::uint32_t threads = 64) {
    const Mechanism& mechanism = GetParam();
    const bool squashes = mechanism.scheme != "stall-on-fault";
    const bool switches = mechanism.switching != "none";
    const std::uint32_t blocks = switches ? 4 : 1;
    const Outcome without = OneRun(body, {}, blocks, threads).to_its_end();
    EXPECT_EQ(without.squashed, 0u);
    for (const bool backwards : {false, true}) {
      SCOPED_TRACE(backwards ? "backwards" : "forwards");
      const Outcome with = OneRun(body, mechanism, blocks, threads).with_faults(backwards);
      EXPECT_EQ(with.out, without.out);
      EXPECT_EQ(with.executed, without.executed) << "reissued instructions are counted apart";
      EXPECT_EQ(with.squashed > 0, squashes);
      EXPECT_EQ(with.reissued, with.squashed);
      EXPECT_EQ(with.saved > 0, switches);
      EXPECT_EQ(with.restored, with.saved);
    }
  }
};

/// %rd0, %rd1: the block's 1024 bytes of each page of out and in; %rd2: the thread's place in in,
/// %rd3: in out, 4 bytes for each; %r1: its number.
const std::string places =
    "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd9, %r1, 1024;\nadd.u64 %rd0, %rd0, %rd9;\n"
    "add.u64 %rd1, %rd1, %rd9;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd9, %r1, 4;\n"
    "add.u64 %rd2, %rd1, %rd9;\nadd.u64 %rd3, %rd0, %rd9;\n";

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

TEST_P(DirectedFaults, ALocalArrayIsItsThreadsOwnBehindAFault) {
  expect_no_difference(places +
                       "mov.u64 %rd7, own;\nadd.u32 %r2, %r1, 100;\nst.local.u32 [%rd7], %r2;\n"
                       "ld.global.u32 %r3, [%rd2];\nand.b32 %r4, %r3, 15;\n"
                       "mul.wide.u32 %rd8, %r4, 4;\nadd.u64 %rd8, %rd7, %rd8;\n"
                       "st.local.u32 [%rd8], %r3;\nst.global.u32 [%rd3], %r3;\n"
                       "ld.local.u32 %r5, [%rd7];\nld.local.u32 %r6, [%rd8];\n"
                       "st.global.u32 [%rd3+4096], %r5;\nst.global.u32 [%rd3+8192], %r6;\n");
}

TEST_P(DirectedFaults, SharedMemoryIsItsBlocksOwnBehindAFault) {
  expect_no_difference(places +
                       "mov.u64 %rd7, room;\nadd.u64 %rd7, %rd7, %rd9;\n"
                       "cvt.u32.u64 %r2, %rd0;\nadd.u32 %r2, %r2, %r1;\n"
                       "st.shared.u32 [%rd7], %r2;\nld.global.u32 %r3, [%rd2];\n"
                       "st.global.u32 [%rd3], %r3;\nbar.sync 0;\nxor.b32 %r4, %r1, 33;\n"
                       "mul.wide.u32 %rd8, %r4, 4;\nmov.u64 %rd7, room;\n"
                       "add.u64 %rd8, %rd7, %rd8;\nld.shared.u32 %r5, [%rd8];\n"
                       "st.global.u32 [%rd3+4096], %r5;\n");
}

TEST_P(DirectedFaults, OneWarpSleepsAndOneWaitsAtABarrierWhileAThirdFaults) {
  expect_no_difference(places +
                           "shr.u32 %r2, %r1, 5;\nsetp.eq.u32 %p1, %r2, 0;\n"
                           "setp.eq.u32 %p2, %r2, 1;\n@%p1 bra faults;\n@%p2 bra sleeps;\n"
                           "bra.uni meets;\nsleeps:\nnanosleep.u32 3000;\nbra.uni meets;\n"
                           "faults:\nld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd3], %r3;\n"
                           "meets:\nbar.sync 0;\nst.global.u32 [%rd3+4096], %r1;\n",
                       96);
}

TEST_P(DirectedFaults, LanesThatHaveEndedStayEnded) {
  expect_no_difference(places +
                       "setp.lt.u32 %p1, %r1, 40;\n@%p1 ret;\n"
                       "ld.global.u32 %r2, [%rd2];\nsetp.lt.u32 %p2, %r1, 50;\n"
                       "@%p2 add.u32 %r2, %r2, 1;\nst.global.u32 [%rd3], %r2;\n");
}

TEST_P(DirectedFaults, ALoopOfDifferentLengthsFaultsInItsMiddle) {
  expect_no_difference(places +
                       "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nagain:\n"
                       "mul.wide.u32 %rd7, %r2, 4096;\nadd.u64 %rd8, %rd2, %rd7;\n"
                       "ld.global.u32 %r4, [%rd8];\nadd.u32 %r3, %r3, %r4;\n"
                       "add.u64 %rd8, %rd3, %rd7;\nst.global.u32 [%rd8], %r3;\n"
                       "add.u32 %r2, %r2, 1;\nand.b32 %r5, %r1, 3;\n"
                       "setp.le.u32 %p1, %r2, %r5;\n@%p1 bra again;\n");
}

/// A warp that stalls cannot leave.
std::vector<Mechanism> mechanisms() {
  std::vector<Mechanism> all;
  for (const PolicyInfo& info : exception_scheme_policies()) {
    all.push_back({info.name, "none"});
    if (!is_preemptible(PolicyChoice(info))) continue;
    all.push_back({info.name, "{name: on-fault, threshold: 4}"});
    all.push_back({info.name, "{name: on-fault, threshold: 0, ideal: true}"});
    all.push_back({info.name, "{name: on-fault, extra_blocks: 1, max_wait: 1us}"});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryScheme, DirectedFaults, testing::ValuesIn(mechanisms()),
                         [](const auto& test) {
                           std::string name = test.param.scheme + " " + test.param.switching;
                           std::erase_if(name, [](char c) { return std::ispunct(c) && c != '-'; });
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep::directed_faults_test
