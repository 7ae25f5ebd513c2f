/// Barriers in shared memory: mbarrier, as cuda::barrier uses it.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::mbarriers_test {
namespace {

LOCKSTEP_BOTH_FORMS(Mbarriers);

const std::string declarations = ".shared .align 8 .b64 gate;\n";
const std::string initialised = R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gate], COUNT;
ready:
    bar.sync 0;
)";

/// What each thread leaves in %r9, of `body` behind the initialisation for `count` arrivals.
std::vector<std::uint32_t> run(const std::string& body, const std::string& count,
                               std::uint32_t threads, bool lowered) {
  std::string before = initialised;
  before.replace(before.find("COUNT"), 5, count);
  return run_block(kernel_text(declarations + before + body + "\nst.global.u32 [%rd2], %r9;\nret;"),
                   threads, lowered);
}

TEST_P(Mbarriers, WarpsWaitForEachOtherInEachPhase) {
  // In each of three rounds every thread stores, waits, and adds what another one stored.
  const auto out = run(R"(
    .shared .align 4 .b8 values[512];
    mov.u32 %r2, values;
    mad.lo.u32 %r3, %r1, 4, %r2;
    add.u32 %r4, %r1, 33;
    and.b32 %r4, %r4, 127;
    mad.lo.u32 %r4, %r4, 4, %r2;
    mov.u32 %r5, 0;
    mov.u32 %r9, 0;
  round:
    mad.lo.u32 %r6, %r5, 1000, %r1;
    st.shared.u32 [%r3], %r6;
    mbarrier.arrive.shared.b64 %rd3, [gate];
  first:
    mbarrier.test_wait.shared.b64 %p2, [gate], %rd3;
    @!%p2 bra first;
    ld.shared.u32 %r7, [%r4];
    add.u32 %r9, %r9, %r7;
    mbarrier.arrive.release.cta.shared::cta.b64 %rd3, [gate], 1;
  second:
    mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [gate], %rd3, 100;
    @!%p2 bra second;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 3;
    @%p3 bra round;
)",
                       "128", 128, GetParam());
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], 3000 + 3 * ((i + 33) % 128)) << i;
}

TEST_P(Mbarriers, AParityIsCompleteWhenThePhaseHasTheOther) {
  const std::string asked = R"(
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    mbarrier.test_wait.parity.shared.b64 %p3, [gate], 1;
    selp.u32 %r8, 1, 0, %p2;
    selp.u32 %r9, 10, 0, %p3;
    add.u32 %r9, %r9, %r8;
)";
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd3, [gate];\n";
  EXPECT_EQ(run(asked, "1", 1, GetParam())[0], 10u);
  EXPECT_EQ(run(arrive + asked, "1", 1, GetParam())[0], 1u);
  EXPECT_EQ(run(arrive + arrive + asked, "1", 1, GetParam())[0], 10u);
}

TEST_P(Mbarriers, ACountArrivesForSeveral) {
  const auto out = run(R"(
    mov.u32 %r2, 5;
    mov.u32 %r3, gate;
    mbarrier.arrive.noComplete.shared.b64 %rd3, [%r3], 2;
    mbarrier.pending_count.b64 %r4, %rd3;
    mbarrier.arrive.shared.b64 %rd4, [%r3], %r2;
    mbarrier.pending_count.b64 %r5, %rd4;
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd4;
    selp.u32 %r9, 100, 0, %p2;
    mad.lo.u32 %r9, %r4, 10, %r9;
    add.u32 %r9, %r9, %r5;
)",
                       "7", 1, GetParam());
  EXPECT_EQ(out[0], 175u);  // complete; 7, then 5 were waited for
}

TEST_P(Mbarriers, WhoDropsOutIsNotWaitedForInTheNextPhase) {
  const auto out = run(R"(
    mbarrier.arrive_drop.shared.b64 %rd3, [gate];
    mbarrier.arrive.shared.b64 %rd3, [gate];
    mbarrier.arrive.shared.b64 %rd4, [gate];
    mbarrier.test_wait.shared.b64 %p2, [gate], %rd4;
    selp.u32 %r9, 1, 0, %p2;
)",
                       "2", 1, GetParam());
  EXPECT_EQ(out[0], 1u);
}

TEST_P(Mbarriers, GenericAddressesServeAsWell) {
  const auto out = run(R"(
    mov.u32 %r2, gate;
    cvt.u64.u32 %rd3, %r2;
    cvta.shared.u64 %rd4, %rd3;
    mbarrier.arrive.b64 %rd5, [%rd4];
    mbarrier.test_wait.b64 %p2, [%rd4], %rd5;
    mbarrier.inval.b64 [%rd4];
    selp.u32 %r9, 1, 0, %p2;
)",
                       "1", 1, GetParam());
  EXPECT_EQ(out[0], 1u);
}

TEST_P(Mbarriers, ATryWaitLetsOthersOfItsWarpRun) {
  // Lane 0 produces, the others consume: in each of five rounds both wait for each other.
  const auto out = run_block(kernel_text(R"(.shared .align 8 .b8 gates[16];
    .shared .align 4 .u32 value;
    mov.u32 %r9, 0;
    mov.u32 %r5, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [gates], 1;
    mbarrier.init.shared.b64 [gates+8], 31;
ready:
    bar.sync 0;
    @%p1 bra consume;
produce:
    and.b32 %r6, %r5, 1;
    xor.b32 %r7, %r6, 1;
empty:
    mbarrier.try_wait.parity.shared.b64 %p2, [gates+8], %r7;
    @!%p2 bra empty;
    mad.lo.u32 %r8, %r5, 10, 1;
    st.shared.u32 [value], %r8;
    mbarrier.arrive.shared.b64 %rd3, [gates];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 5;
    @%p3 bra produce;
    bra done;
consume:
    and.b32 %r6, %r5, 1;
full:
    mbarrier.try_wait.parity.shared.b64 %p2, [gates], %r6;
    @!%p2 bra full;
    ld.shared.u32 %r8, [value];
    add.u32 %r9, %r9, %r8;
    mbarrier.arrive.shared.b64 %rd3, [gates+8];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 5;
    @%p3 bra consume;
done:
    st.global.u32 [%rd2], %r9;
    ret;)"),
                             32, GetParam());
  EXPECT_EQ(out[0], 0u);
  for (std::uint32_t i = 1; i < 32; ++i) EXPECT_EQ(out[i], 105u) << i;
}

TEST_P(Mbarriers, AWaitThatNobodyCanEndSaysThatThePhaseIsNotOver) {
  const auto out = run(R"(
    mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r9, 1, 2, %p2;
)",
                       "2", 1, GetParam());
  EXPECT_EQ(out[0], 2u);
}

TEST_P(Mbarriers, ArrivalsBehindCopiesAreCountedOrCountThemselvesIn) {
  const auto out = run(R"(
    cp.async.mbarrier.arrive.shared.b64 [gate];
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r8, 1, 0, %p2;
    cp.async.mbarrier.arrive.noinc.shared.b64 [gate];
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r9, 10, 0, %p2;
    add.u32 %r9, %r9, %r8;
)",
                       "1", 1, GetParam());
  EXPECT_EQ(out[0], 10u) << "only the second one is among the arrivals that are waited for";
}

std::string mistake_of(const std::string& body, const std::string& count, bool lowered) {
  try {
    run(body, count, 32, lowered);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(Mbarriers, MistakesAreToldWithThreadAndLine) {
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd3, [gate];\n";
  const auto has = [&](const std::string& body, const std::string& count, const char* part) {
    const std::string text = mistake_of(body, count, GetParam());
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("kernel k, block (0, 0, 0), thread ("), std::string::npos) << text;
    EXPECT_NE(text.find("test.ptx:"), std::string::npos) << text;
  };
  has("mbarrier.inval.shared.b64 [gate];\n", "9", "no barrier has been initialised");
  has("mov.u32 %r3, gate;\nmbarrier.arrive.shared.b64 %rd3, [%r3+4];\n", "40",
      "a barrier at shared address 0x4, which is not a multiple of 8");
  has("mbarrier.arrive.shared.b64 %rd3, [gate+8];\n", "40", "outside of the block's 8 bytes");
  has("mbarrier.test_wait.parity.b64 %p2, [%rd1], 0;\n", "40", "which is not in shared memory");
  has("mbarrier.arrive.shared.b64 %rd3, [gate], 3;\n", "40",
      "3 arrivals at the barrier at shared address 0x0, whose phase of parity 0 waits for 1 more "
      "of "
      "40 arrivals");
  has("mbarrier.arrive.noComplete.shared.b64 %rd3, [gate], 1;\n", "32", ".noComplete completes");
  has("mov.u32 %r2, 0;\nmbarrier.arrive.shared.b64 %rd3, [gate], %r2;\n", "32", "a count of 0");
  has("cp.async.mbarrier.arrive.shared.b64 [gate];\n", "1048575", "one arrival more");
}

TEST_P(Mbarriers, APhaseWaitsForBytesOfTransactionsBesideArrivals) {
  const auto out = run(R"(
    mov.u32 %r3, gate;
    mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r3], 48;
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd3;
    selp.u32 %r5, 1, 0, %p2;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 32;
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd3;
    selp.u32 %r6, 2, 0, %p2;
    mov.u32 %r7, 16;
    mbarrier.complete_tx.shared.b64 [gate], %r7;
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd3;
    selp.u32 %r8, 4, 0, %p2;
    add.u32 %r9, %r5, %r6;
    add.u32 %r9, %r9, %r8;
)",
                       "1", 1, GetParam());
  EXPECT_EQ(out[0], 4u);
}

TEST_P(Mbarriers, BytesMayComeBeforeSomebodyExpectsThem) {
  const auto out = run(R"(
    mbarrier.complete_tx.shared.b64 [gate], 1048575;
    mbarrier.expect_tx.relaxed.cta.shared.b64 [gate], 1048575;
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r5, 1, 0, %p2;
    mbarrier.complete_tx.shared.b64 [gate], 16;
    mbarrier.arrive.shared.b64 _, [gate];
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r6, 2, 0, %p2;
    mbarrier.expect_tx.shared.b64 [gate], 16;
    mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0;
    selp.u32 %r7, 4, 0, %p2;
    add.u32 %r9, %r5, %r6;
    add.u32 %r9, %r9, %r7;
)",
                       "1", 1, GetParam());
  EXPECT_EQ(out[0], 4u) << "neither bytes nor arrivals alone end a phase";
}

TEST_P(Mbarriers, WhoDropsOutCanExpectBytes) {
  const auto out = run(R"(
    mbarrier.arrive_drop.expect_tx.shared.b64 %rd3, [gate], 8;
    mbarrier.arrive.shared.b64 %rd3, [gate];
    mbarrier.complete_tx.shared.b64 [gate], 8;
    mbarrier.arrive.shared.b64 %rd4, [gate];
    mbarrier.test_wait.shared.b64 %p2, [gate], %rd4;
    selp.u32 %r9, 1, 0, %p2;
)",
                       "2", 1, GetParam());
  EXPECT_EQ(out[0], 1u) << "the second phase waits for one arrival and no bytes";
}

TEST_P(Mbarriers, TransactionsOfMoreBytesThanABarrierCountsAreAMistake) {
  const auto has = [&](const std::string& body, const char* part) {
    const std::string text = mistake_of(body, "40", GetParam());
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has("mbarrier.expect_tx.shared.b64 [gate], 1048576;\n", "transactions of 1048576 bytes more");
  has("mbarrier.complete_tx.shared.b64 [gate], 600000;\n"
      "mbarrier.complete_tx.shared.b64 [gate], 600000;\n",
      "transactions of 600000 bytes more at the barrier at shared address 0x0, whose phase of "
      "parity 0 waits for 40 more of 40 arrivals, and ");
}

const std::string form =
    "write it as mbarrier.init.shared.b64 [a], count; also .arrive, .test_wait, .try_wait, .inval, "
    ".expect_tx, .complete_tx";

std::string error_of(const std::string& line) {
  try {
    load_module_text(kernel_text(declarations + line + "\nret;"), "bad.ptx");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(MbarrierErrors, OtherScopesThanThoseOfSharedMemoryAreRefused) {
  EXPECT_EQ(error_of("mbarrier.arrive.release.cluster.shared::cta.b64 %rd3, [gate];"), "");
  EXPECT_EQ(error_of("mbarrier.arrive.release.gpu.shared::cta.b64 %rd3, [gate];"),
            "bad.ptx:17:1: mbarrier.arrive.release.gpu.shared::cta.b64: has the scope .cta or "
            ".cluster - " +
                form);
}

TEST(MbarrierErrors, TransactionsNeedAMachineThatCountsThem) {
  LoweringOptions options;
  options.bulk_copies = false;
  const auto on_such = [&](const std::string& line) -> std::string {
    try {
      load_module_text(kernel_text(declarations + line + "\nret;"), "bad.ptx", options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  for (const auto& [line, name] :
       {std::pair("mbarrier.expect_tx.shared.b64 [gate], 16;", "mbarrier.expect_tx"),
        std::pair("mbarrier.complete_tx.shared.b64 [gate], 16;", "mbarrier.complete_tx"),
        std::pair("mbarrier.arrive.expect_tx.shared.b64 %rd3, [gate], 16;",
                  "mbarrier.arrive.expect_tx")})
    EXPECT_EQ(on_such(line),
              std::string("bad.ptx:17:1: ") + name +
                  " needs the engine for bulk copies of compute capability 9.0 or later: the "
                  "machine has none - simulate a GPU like H100 (9.0), or compile for the one that "
                  "is simulated");
  EXPECT_EQ(on_such("mbarrier.arrive.shared.b64 %rd3, [gate];"), "");
}

TEST(MbarrierErrors, ACountOfNothingIsAnErrorWhereItStands) {
  EXPECT_EQ(error_of("mbarrier.init.shared.b64 [gate], 0;"),
            "bad.ptx:17:34: a count is 1 to 1048575 - give the number of threads that arrive");
}

TEST(MbarrierErrors, AnotherStateSpaceIsRefused) {
  EXPECT_EQ(error_of("mbarrier.init.global.b64 [%rd1], 1;"),
            "bad.ptx:17:1: mbarrier.init.global.b64: stands in shared memory only - " + form);
}

}  // namespace
}  // namespace lockstep::isa::mbarriers_test
