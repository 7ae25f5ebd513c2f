/// Litmus tests of the memory model: one writes data and raises a flag, another waits and reads.
///
/// Readers keep a cached copy of the data first, so that a missing acquire shows.
#include <gmock/gmock.h>

#include "tests/properties/litmus/litmus_bench.hpp"
#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing::message_passing_test {
namespace {

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
  const HangGuard guard("stale copy");
  MachineBench bench(module_head + kernel("stale", body), workload(launch("stale", 2, 32)),
                     {"gpu.sm.blocks=1"});
  EXPECT_THAT(bench.run({}).problem, ::testing::HasSubstr("buffer out"));
}

}  // namespace
}  // namespace lockstep::testing::message_passing_test
