/// Litmus tests of the memory model, as hand-written PTX on machines of several shapes.
///
/// Each program leaves a result that only a machine whose ordering is right can leave; what
/// ordering is asked for stands in the kernel.  Readers keep a cached copy of the data first, so
/// that a missing acquire shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random_machine.hpp"

namespace lockstep::testing {
namespace {

constexpr double most_seconds = 120;

const std::string module_head = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A kernel of (data, flag, out) with registers; %rd1 to %rd3 are the three pointers.
std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         R"((.param .u64 data, .param .u64 flag, .param .u64 out)
{
.reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .pred %p<6>;
.shared .align 8 .b8 room[1024];
ld.param.u64 %rd1, [data];
ld.param.u64 %rd2, [flag];
ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %nctaid.x;
mad.lo.u32 %r5, %r2, %r3, %r1;
)" + body +
         "\nret;\n}\n";
}

std::string workload(const std::string& launches, unsigned words = 16384) {
  const std::string count = std::to_string(words);
  return "module: kernels.ptx\nbuffers:\n  data: {type: u32, count: " + count +
         ", memory: device}\n  flag: {type: u32, count: " + count +
         ", memory: device}\n  out: {type: u32, count: " + count + ", memory: device}\nprogram:\n" +
         launches + "  - copy: {buffer: out, to: host}\n";
}

std::string launch(const std::string& name, unsigned blocks, unsigned threads) {
  return "  - launch: {kernel: " + name + ", grid: [" + std::to_string(blocks) + "], block: [" +
         std::to_string(threads) + "], arguments: [data, flag, out]}\n";
}

/// Runs on machines that differ in every latency and queue, and in the number of SMs.
void expect_one_result(const std::string& ptx, const std::string& steps, bool needs_two_sms = true,
                       const std::vector<std::string>& more = {}) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::vector<std::string> settings = random_latencies(seed);
    const std::uint64_t sms = needs_two_sms ? 2 + seed % 3 : 1 + seed % 4;
    settings.push_back("gpu.sm.count=" + std::to_string(sms));
    settings.push_back("gpu.memory.partitions=" + std::to_string(1 + seed % 2));
    if (needs_two_sms) settings.push_back("gpu.sm.blocks=1");  // blocks stand on different SMs
    settings.insert(settings.end(), more.begin(), more.end());
    std::string what = "LOCKSTEP_SEED=" + std::to_string(seed);
    for (const std::string& setting : settings) what += " --set " + setting;
    const HangGuard guard(what, most_seconds);
    MachineBench bench(module_head + ptx, workload(steps), settings);
    ASSERT_EQ(bench.run(Layout::random(seed)).problem, "") << what;
  }
}

struct Passing {
  const char* name;
  const char* release;  ///< what the writer does between data and flag
  const char* store;    ///< of the flag
  const char* load;     ///< of the flag
  const char* acquire;  ///< what the reader does between flag and data
};

void PrintTo(const Passing& passing, std::ostream* out) {
  *out << passing.name;
}

constexpr Passing passings[] = {
    {"membar_gl", "membar.gl;", "st.volatile.global.u32", "ld.volatile.global.u32", "membar.gl;"},
    {"membar_sys", "membar.sys;", "st.volatile.global.u32", "ld.volatile.global.u32",
     "membar.sys;"},
    {"fence_acq_rel_gpu", "fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32",
     "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"},
    {"fence_acq_rel_sys", "fence.acq_rel.sys;", "st.relaxed.sys.global.u32",
     "ld.relaxed.sys.global.u32", "fence.acq_rel.sys;"},
    {"fence_sc_gpu", "fence.sc.gpu;", "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32",
     "fence.sc.gpu;"},
    {"release_acquire_gpu", "", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", ""},
    {"release_acquire_sys", "", "st.release.sys.global.u32", "ld.acquire.sys.global.u32", ""},
    {"release_then_fence", "", "st.release.gpu.global.u32", "ld.relaxed.gpu.global.u32",
     "fence.acq_rel.gpu;"},
};

class MessagePassing : public ::testing::TestWithParam<Passing> {};

/// Each word of data stands in a line of its own, all in another partition than the flags (plain
/// mapping, two partitions): what is not ordered can overtake.
const std::vector<std::string> passing_machine = {
    "gpu.memory.partitions=2", "gpu.noc.mapping=plain", "gpu.noc.credits=1", "gpu.sm.count=2"};

/// The reader takes a copy of the data into its L1 and says so; only then does the writer go on.
/// It reads the words in the opposite order: first the one that is written last.
const std::string copy_first = R"(
setp.ne.u32 %p1, %r2, 0;
not.b32 %r15, %r1;
add.u32 %r15, %r3, %r15;
selp.u32 %r15, %r15, %r1, %p1;
mul.wide.u32 %rd4, %r15, 512;
add.u64 %rd4, %rd4, %rd1;
add.u64 %rd2, %rd2, 256;
@!%p1 bra copied;
ld.global.u32 %r6, [%rd4];
add.u32 %r6, %r6, 1;
red.global.add.u32 [%rd2+64], %r6;
copied:
@%p1 bra ready;
ld.volatile.global.u32 %r6, [%rd2+64];
setp.lt.u32 %p4, %r6, %r3;
@%p4 bra copied;
ready:
)";

// Block 0 writes words and raises a flag for each; block 1, which holds old copies of the words,
// waits for the flags and reads them with plain cached loads.
TEST_P(MessagePassing, BetweenSms) {
  const Passing& p = GetParam();
  const std::string body = copy_first + R"(
@%p1 bra reader;
add.u32 %r7, %r1, 1000;
st.global.u32 [%rd4], %r7;
)" + p.release + R"(
mad.wide.u32 %rd5, %r1, 4, %rd2;
mov.u32 %r8, 1;
)" + p.store + R"( [%rd5+512], %r8;
bra.uni done;
reader:
mad.wide.u32 %rd5, %r1, 4, %rd2;
wait:
)" + p.load + R"( %r9, [%rd5+512];
setp.eq.u32 %p2, %r9, 0;
@%p2 bra wait;
)" + p.acquire + R"(
ld.global.u32 %r10, [%rd4];
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
done:
)";
  expect_one_result(kernel("pass", body), launch("pass", 2, 32), true, passing_machine);
}

// The flag speaks for the whole block: a barrier orders the others' stores before the release.
TEST_P(MessagePassing, OfAWholeBlock) {
  const Passing& p = GetParam();
  const std::string body = copy_first + R"(
setp.eq.u32 %p3, %r1, 0;
@%p1 bra reader;
add.u32 %r7, %r1, 1000;
st.global.u32 [%rd4], %r7;
bar.sync 0;
@!%p3 bra done;
)" + p.release + R"(
mov.u32 %r8, 1;
)" + p.store + R"( [%rd2], %r8;
bra.uni done;
reader:
@!%p3 bra together;
wait:
)" + p.load + R"( %r9, [%rd2];
setp.eq.u32 %p2, %r9, 0;
@%p2 bra wait;
)" + p.acquire + R"(
together:
bar.sync 0;
ld.global.u32 %r10, [%rd4];
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
done:
)";
  expect_one_result(kernel("pass", body), launch("pass", 2, 96), true, passing_machine);
}

INSTANTIATE_TEST_SUITE_P(Litmus, MessagePassing, ::testing::ValuesIn(passings),
                         [](const auto& tested) { return std::string(tested.param.name); });

// L1 is not coherent: without a fence the reader keeps its old copy.  So the tests above can fail.
TEST(Litmus, WithoutAFenceAStaleCopyIsRead) {
  const std::string body = R"(
mad.wide.u32 %rd4, %r1, 4, %rd1;
ld.global.u32 %r6, [%rd4];
setp.ne.u32 %p1, %r2, 0;
@%p1 bra reader;
waiting:
ld.volatile.global.u32 %r11, [%rd2+4];
setp.eq.u32 %p3, %r11, 0;
@%p3 bra waiting;
add.u32 %r7, %r6, 1000;
st.global.u32 [%rd4], %r7;
membar.gl;
mov.u32 %r8, 1;
st.volatile.global.u32 [%rd2], %r8;
bra.uni done;
reader:
add.u32 %r12, %r6, 1;
st.volatile.global.u32 [%rd2+4], %r12;
wait:
ld.volatile.global.u32 %r9, [%rd2];
setp.eq.u32 %p2, %r9, 0;
@%p2 bra wait;
ld.global.u32 %r10, [%rd4];
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
done:
)";
  const HangGuard guard("stale copy", most_seconds);
  MachineBench bench(module_head + kernel("stale", body), workload(launch("stale", 2, 32)),
                     {"gpu.sm.blocks=1"});
  EXPECT_THAT(bench.run({}).problem, ::testing::HasSubstr("buffer out"));
}

// threadFenceReduction: the block that counts last adds up what all blocks left.
TEST(Litmus, TheLastBlockSeesThePartialSumsOfAll) {
  const std::string body = R"(
mad.wide.u32 %rd4, %r2, 4, %rd1;
ld.global.u32 %r6, [%rd1];
ld.global.u32 %r6, [%rd1+32];
setp.ne.u32 %p1, %r1, 0;
@%p1 bra counted;
mad.lo.u32 %r7, %r2, 17, 5;
st.global.u32 [%rd4], %r7;
membar.gl;
atom.global.inc.u32 %r8, [%rd2], 100000;
st.shared.u32 [room], %r8;
counted:
bar.sync 0;
ld.shared.u32 %r9, [room];
add.u32 %r10, %r4, -1;
setp.ne.u32 %p2, %r9, %r10;
@%p2 bra done;
membar.gl;
setp.ge.u32 %p3, %r1, %r4;
@%p3 bra done;
mad.wide.u32 %rd5, %r1, 4, %rd1;
ld.global.u32 %r11, [%rd5];
red.global.add.u32 [%rd3], %r11;
done:
)";
  expect_one_result(kernel("reduce", body), launch("reduce", 12, 64), false);
}

// Blocks pass a token from one to the next by a volatile flag.
TEST(Litmus, AFlagSpinsAcrossBlocks) {
  const std::string body = R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
wait:
ld.volatile.global.u32 %r6, [%rd2];
setp.ne.u32 %p2, %r6, %r2;
@%p2 bra wait;
mad.wide.u32 %rd4, %r2, 4, %rd3;
mad.lo.u32 %r7, %r6, 3, 1;
st.global.u32 [%rd4], %r7;
add.u32 %r8, %r6, 1;
st.volatile.global.u32 [%rd2], %r8;
done:
)";
  expect_one_result(kernel("token", body), launch("token", 2, 32));
}

// A lock taken with cas and given back with exch protects a plain counter.
TEST(Litmus, ALockProtectsACounter) {
  const std::string body = R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
mov.u32 %r10, 0;
again:
atom.global.cas.b32 %r6, [%rd2], 0, 1;
setp.ne.u32 %p2, %r6, 0;
@%p2 bra again;
membar.gl;
ld.global.u32 %r7, [%rd3];
add.u32 %r7, %r7, 1;
st.global.u32 [%rd3], %r7;
membar.gl;
atom.global.exch.b32 %r8, [%rd2], 0;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 5;
@%p3 bra again;
done:
)";
  // An oldest-first scheduler may let the spinning warps keep the holder from its turn for ever.
  expect_one_result(kernel("lock", body), launch("lock", 7, 32), false,
                    {"policies.warp_scheduler=lrr"});
}

// A stale copy in L1 is allowed within a kernel, but not in the next one.
TEST(Litmus, TheNextKernelSeesWhatOtherSmsWrote) {
  const std::string write = R"(
mad.wide.u32 %rd4, %r5, 4, %rd1;
ld.global.u32 %r6, [%rd4+0];
xor.b32 %r7, %r2, 1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd5];
and.b32 %r9, %r9, 0;
add.u32 %r10, %r5, 500;
add.u32 %r10, %r10, %r9;
st.global.u32 [%rd4], %r10;
)";
  const std::string read = R"(
xor.b32 %r7, %r2, 1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd5];
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r9;
)";
  expect_one_result(kernel("before", write) + kernel("after", read),
                    launch("before", 4, 64) + launch("after", 4, 64), false);
}

// Atomics go to L2 past a copy in L1; the same thread then reads what the atomic left.
TEST(Litmus, AnAtomicIsSeenByTheCachedLoadsOfItsThread) {
  const std::string body = R"(
mad.wide.u32 %rd4, %r5, 4, %rd1;
ld.global.u32 %r6, [%rd4];
add.u32 %r7, %r5, 3;
red.global.add.u32 [%rd4], %r7;
ld.global.u32 %r8, [%rd4];
atom.global.add.u32 %r9, [%rd4], 10;
ld.global.u32 %r10, [%rd4];
st.global.u32 [%rd4], %r1;
ld.global.u32 %r11, [%rd4];
atom.global.exch.b32 %r12, [%rd4], %r5;
ld.global.u32 %r13, [%rd4];
mad.lo.u32 %r14, %r8, 7, %r9;
mad.lo.u32 %r14, %r14, 7, %r10;
mad.lo.u32 %r14, %r14, 7, %r11;
mad.lo.u32 %r14, %r14, 7, %r12;
mad.lo.u32 %r14, %r14, 7, %r13;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r14;
)";
  expect_one_result(kernel("atomics", body), launch("atomics", 4, 128), false);
}

TEST(Litmus, BothArmsOfABranchMeetAtABarrier) {
  const std::string body = R"(
mad.lo.u32 %r6, %r1, 4, 0;
mov.u32 %r7, room;
add.u32 %r6, %r6, %r7;
xor.b32 %r8, %r1, 1;
mad.lo.u32 %r8, %r8, 4, %r7;
and.b32 %r9, %r1, 3;
setp.eq.u32 %p1, %r9, 0;
@%p1 bra other;
st.shared.u32 [%r6], %r5;
bar.sync 0;
ld.shared.u32 %r10, [%r8];
bra.uni join;
other:
add.u32 %r11, %r5, 7000;
st.shared.u32 [%r6], %r11;
bar.sync 0;
ld.shared.u32 %r10, [%r8];
add.u32 %r10, %r10, 1;
join:
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
)";
  expect_one_result(kernel("arms", body), launch("arms", 4, 128), false);
}

TEST(Litmus, BothArmsOfABranchMeetAtAWarpBarrier) {
  const std::string body = R"(
mad.lo.u32 %r6, %r1, 4, 0;
mov.u32 %r7, room;
add.u32 %r6, %r6, %r7;
xor.b32 %r8, %r1, 1;
mad.lo.u32 %r8, %r8, 4, %r7;
and.b32 %r9, %r1, 1;
setp.eq.u32 %p1, %r9, 0;
@%p1 bra other;
st.shared.u32 [%r6], %r5;
bar.warp.sync 0xffffffff;
ld.shared.u32 %r10, [%r8];
bra.uni join;
other:
add.u32 %r11, %r5, 9000;
st.shared.u32 [%r6], %r11;
bar.warp.sync 0xffffffff;
ld.shared.u32 %r10, [%r8];
add.u32 %r10, %r10, 1;
join:
bar.warp.sync 0xffffffff;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r10;
)";
  expect_one_result(kernel("arms", body), launch("arms", 4, 96), false);
}

// Values pass between blocks of a grid-wide barrier made of atomics, several rounds.
TEST(Litmus, AGridBarrierOfAtomicsOrdersRounds) {
  const std::string body = R"(
mov.u32 %r6, 0;
round:
mad.wide.u32 %rd4, %r5, 4, %rd1;
add.u32 %r7, %r2, 1;
setp.eq.u32 %p1, %r7, %r4;
selp.b32 %r7, 0, %r7, %p1;
mad.lo.u32 %r8, %r7, %r3, %r1;
mad.wide.u32 %rd5, %r8, 4, %rd1;
ld.global.u32 %r9, [%rd4];
mad.lo.u32 %r9, %r9, 3, %r5;
st.global.u32 [%rd4], %r9;
membar.gl;
bar.sync 0;
setp.ne.u32 %p2, %r1, 0;
@%p2 bra waited;
atom.add.u32 %r10, [%rd2], 1;
mad.lo.u32 %r11, %r6, 2, 1;
mul.lo.u32 %r12, %r4, %r11;
spin:
ld.acquire.gpu.global.u32 %r13, [%rd2];
setp.lt.u32 %p3, %r13, %r12;
@%p3 bra spin;
waited:
bar.sync 0;
ld.global.u32 %r14, [%rd5];
membar.gl;
bar.sync 0;
@%p2 bra left;
atom.add.u32 %r10, [%rd2], 1;
add.u32 %r12, %r12, %r4;
leave:
ld.acquire.gpu.global.u32 %r13, [%rd2];
setp.lt.u32 %p3, %r13, %r12;
@%p3 bra leave;
left:
bar.sync 0;
xor.b32 %r14, %r14, %r9;
st.global.u32 [%rd4], %r14;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p4, %r6, 4;
@%p4 bra round;
mad.wide.u32 %rd6, %r5, 4, %rd3;
st.global.u32 [%rd6], %r14;
)";
  expect_one_result(kernel("rounds", body), launch("rounds", 2, 64));
}

}  // namespace
}  // namespace lockstep::testing
