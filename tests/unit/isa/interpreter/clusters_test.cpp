/// Thread block clusters as they are interpreted, and mistakes with them.
#include <algorithm>
#include <numeric>

#include "core/error/error.hpp"
#include "models/isa/bulk/tensor_map.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::clusters_test {
namespace {

LOCKSTEP_BOTH_FORMS(InterpretedClusters);

const std::string barrier = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

/// k(out): %r1 thread, %r2 rank, %r3 blocks of a cluster, %r4 room, %rd2 generic room, %rd3 the
/// thread's word of out.
std::string text_of(const std::string& body) {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<6>; .reg .b16 %h<4>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
.shared .align 128 .b8 room[1024];
.shared .align 8 .b64 gate;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %cluster_ctarank;
mov.u32 %r3, %cluster_nctarank;
mov.u32 %r4, room;
mov.u32 %r5, %ctaid.x;
mov.u32 %r6, %ntid.x;
mad.lo.u32 %r7, %r5, %r6, %r1;
mul.wide.u32 %rd3, %r7, 4;
add.u64 %rd3, %rd1, %rd3;
mov.u64 %rd4, room;
cvta.shared.u64 %rd2, %rd4;
)" + body +
         "done:\nret;\n}\n";
}

/// Returns what each thread wrote to its word of out.
std::vector<std::uint32_t> run(const std::string& body, std::uint32_t blocks, std::uint32_t size,
                               std::uint32_t threads, bool lowered) {
  IsaBench bench(text_of(body), lowered);
  bench.cluster = {size, 1, 1};
  const auto out = bench.buffer(std::vector<std::uint32_t>(std::size_t{blocks} * threads));
  bench.run("k", {blocks, 1, 1}, {threads, 1, 1}, out);
  return bench.values<std::uint32_t>(out, std::size_t{blocks} * threads);
}

std::string error_of(const std::string& body, std::uint32_t blocks, std::uint32_t size,
                     std::uint32_t threads, bool lowered) {
  try {
    run(body, blocks, size, threads, lowered);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

void expect_parts(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in " << error;
}

/// Each thread writes 1000 * block + thread to its word of the room.
const std::string fill = R"(
mad.lo.u32 %r8, %r5, 1000, %r1;
shl.b32 %r9, %r1, 2;
add.u32 %r10, %r4, %r9;
st.shared.u32 [%r10], %r8;
)" + barrier;

TEST_P(InterpretedClusters, EveryBlockReadsTheSharedMemoryOfEveryOther) {
  const std::string loads[] = {
      "mapa.shared::cluster.u32 %r12, %r10, %r11;\nld.shared::cluster.u32 %r13, [%r12];\n",
      "cvt.u64.u32 %rd6, %r9;\nadd.u64 %rd6, %rd2, %rd6;\nmapa.u64 %rd5, %rd6, %r11;\n"
      "ld.u32 %r13, [%rd5];\n"};
  for (const std::string& load : loads)
    for (const std::uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
      const auto got = run(fill + R"(
mov.u32 %r11, 0;
mov.u32 %r14, 0;
next:
)" + load + R"(
add.u32 %r14, %r14, %r13;
add.u32 %r11, %r11, 1;
setp.lt.u32 %p1, %r11, %r3;
@%p1 bra next;
st.global.u32 [%rd3], %r14;
)" + barrier,
                           32, size, 40, GetParam());
      for (std::uint32_t block = 0; block < 32; ++block)
        for (std::uint32_t thread = 0; thread < 40; ++thread) {
          std::uint32_t expected = 0;
          for (std::uint32_t rank = 0; rank < size; ++rank)
            expected += 1000 * (block / size * size + rank) + thread;
          ASSERT_EQ(got[block * 40 + thread], expected) << size << " " << block << " " << thread;
        }
    }
}

TEST_P(InterpretedClusters, AtomicsOfAllBlocksMeetInOne) {
  const auto got = run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra filled;
st.shared.u32 [%r4], 0;
filled:
)" + barrier + R"(
mapa.shared::cluster.u32 %r12, %r4, 0;
red.shared::cluster.add.u32 [%r12], 1;
atom.shared::cluster.add.u32 %r13, [%r12], 2;
)" + barrier + R"(
ld.shared.u32 %r14, [%r4];
st.global.u32 [%rd3], %r14;
)",
                       8, 4, 32, GetParam());
  for (std::uint32_t block = 0; block < 8; ++block)
    EXPECT_EQ(got[block * 32], block % 4 == 0 ? 4 * 32 * 3 : 0) << block;
}

TEST_P(InterpretedClusters, BarriersOfOtherBlocksTakeArrivals) {
  // Rank 0 waits for all threads of the cluster, its own too; then it writes for all.
  const auto got = run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra ready;
mul.lo.u32 %r8, %r3, %r6;
mbarrier.init.shared.b64 [gate], %r8;
fence.mbarrier_init.release.cluster;
ready:
)" + barrier + R"(
mov.u32 %r9, gate;
mapa.shared::cluster.u32 %r12, %r9, 0;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
setp.ne.u32 %p1, %r2, 0;
@%p1 bra passed;
wait:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [gate], 0;
@!%p2 bra wait;
st.global.u32 [%rd3], 1;
passed:
)" + barrier,
                       4, 4, 64, GetParam());
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0u), 64u);
}

TEST_P(InterpretedClusters, AsyncStoresComeWithTheirTransactions) {
  // Each thread sends 16 bytes and a sum to the next rank, whose barrier counts both.
  const auto got = run(R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra ready;
mbarrier.init.shared.b64 [gate], 1;
mul.lo.u32 %r8, %r6, 20;
mbarrier.arrive.expect_tx.shared.b64 _, [gate], %r8;
st.shared.u32 [%r4+1020], 0;
ready:
)" + barrier + R"(
add.u32 %r8, %r2, 1;
rem.u32 %r8, %r8, %r3;
shl.b32 %r9, %r1, 4;
add.u32 %r10, %r4, %r9;
mapa.shared::cluster.u32 %r11, %r10, %r8;
mapa.shared::cluster.u32 %r12, gate, %r8;
mapa.shared::cluster.u32 %r13, %r4, %r8;
mad.lo.u32 %r14, %r2, 100, %r1;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r11], {%r14, %r1, %r2, %r14}, [%r12];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r13+1020], %r14, [%r12];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [gate], 0;
@!%p2 bra wait;
ld.shared.v4.u32 {%r15, %r16, %r17, %r18}, [%r10];
ld.shared.u32 %r19, [%r4+1020];
add.u32 %r20, %r15, %r18;
add.u32 %r20, %r20, %r19;
st.global.u32 [%rd3], %r20;
)" + barrier,
                       8, 4, 48, GetParam());
  for (std::uint32_t block = 0; block < 8; ++block) {
    const std::uint32_t from = (block % 4 + 3) % 4;
    std::uint32_t sum = 0;
    for (std::uint32_t thread = 0; thread < 48; ++thread) sum += 100 * from + thread;
    for (std::uint32_t thread = 0; thread < 48; ++thread)
      ASSERT_EQ(got[block * 48 + thread], 2 * (100 * from + thread) + sum) << block << thread;
  }
}

/// Thread 0 of each block prepares its gate for `bytes` of transactions.
std::string gate_for(const std::string& bytes) {
  return R"(
setp.ne.u32 %p1, %r1, 0;
@%p1 bra ready;
mbarrier.init.shared.b64 [gate], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [gate], )" +
         bytes + ";\nfence.mbarrier_init.release.cluster;\nready:\n" + barrier;
}
const std::string wait_at_gate = R"(
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [gate], 0;
@!%p2 bra wait;
shl.b32 %r9, %r1, 2;
add.u32 %r10, %r4, %r9;
ld.shared.u32 %r15, [%r10+512];
st.global.u32 [%rd3], %r15;
)" + barrier;

TEST_P(InterpretedClusters, BulkCopiesGoFromBlockToBlock) {
  const auto got = run(R"(
mad.lo.u32 %r8, %r5, 1000, %r1;
shl.b32 %r9, %r1, 2;
add.u32 %r10, %r4, %r9;
st.shared.u32 [%r10], %r8;
fence.proxy.async.shared::cta;
)" + gate_for("128") + R"(
@%p1 bra sent;
xor.b32 %r8, %r2, 1;
mapa.shared::cluster.u32 %r11, %r4, %r8;
mapa.shared::cluster.u32 %r12, gate, %r8;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r11+512], [%r4], 128, [%r12];
sent:
)" + wait_at_gate,
                       4, 2, 32, GetParam());
  for (std::uint32_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], 1000 * (i / 32 ^ 1) + i % 32) << i;
}

TEST_P(InterpretedClusters, BulkReductionsAddToMemoryOfAnotherBlock) {
  const auto got = run(R"(
mad.lo.u32 %r8, %r5, 1000, %r1;
shl.b32 %r9, %r1, 2;
add.u32 %r10, %r4, %r9;
st.shared.u32 [%r10], %r8;
st.shared.u32 [%r10+512], %r1;
fence.proxy.async.shared::cta;
)" + gate_for("128") + R"(
@%p1 bra sent;
xor.b32 %r8, %r2, 1;
mapa.shared::cluster.u32 %r11, %r4, %r8;
mapa.shared::cluster.u32 %r12, gate, %r8;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r11+512], [%r4], 128, [%r12];
sent:
)" + wait_at_gate,
                       4, 2, 32, GetParam());
  for (std::uint32_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], 1000 * (i / 32 ^ 1) + 2 * (i % 32)) << i;
}

TEST_P(InterpretedClusters, OneBulkCopyComesToTheBlocksOfItsMask) {
  // Rank 0 copies to the even ranks, rank 1 to the odd ones.
  IsaBench bench(text_of(gate_for("128") + R"(
@%p1 bra sent;
setp.gt.u32 %p3, %r2, 1;
@%p3 bra sent;
mov.u32 %r8, 85;
shl.b32 %r8, %r8, %r2;
cvt.u16.u32 %h1, %r8;
mul.wide.u32 %rd6, %r2, 128;
add.u64 %rd7, %rd1, %rd6;
add.u64 %rd7, %rd7, 4096;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4+512], [%rd7], 128, [gate], %h1;
sent:
)" + wait_at_gate),
                 GetParam());
  bench.cluster = {8, 1, 1};
  std::vector<std::uint32_t> memory(2048);
  std::iota(memory.begin(), memory.end(), 0);
  const auto out = bench.buffer(memory);
  bench.run("k", {8, 1, 1}, {32, 1, 1}, out);
  const auto got = bench.values<std::uint32_t>(out, 256);
  for (std::uint32_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], 1024 + i / 32 % 2 * 32 + i % 32) << i;
}

TEST_P(InterpretedClusters, OneTileComesToTheBlocksOfItsMask) {
  // Rank 0 copies a row of 32 numbers of a tensor of so many dimensions to the ranks 1 and 3.
  std::string coordinates = "0";
  for (unsigned rank = 1; rank <= 5; ++rank, coordinates += ", 1") {
    const std::string copy =
        "cp.async.bulk.tensor." + std::to_string(rank) +
        "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r4+512], "
        "[%rd7, {" +
        coordinates + "}], [gate], 10;\n";
    IsaBench bench(text_of(gate_for("128") + R"(
@%p1 bra sent;
setp.ne.u32 %p3, %r2, 0;
@%p3 bra sent;
add.u64 %rd7, %rd1, 4096;
)" + copy + R"(
sent:
and.b32 %r8, %r2, 1;
setp.eq.u32 %p3, %r8, 0;
@%p3 bra leave;
)" + wait_at_gate + R"(
bra done;
leave:
)" + barrier),
                   GetParam());
    bench.cluster = {4, 1, 1};
    TensorMap map;
    map.rank = rank;
    map.type = TensorType::f32;
    map.size = {32, 2, 2, 2, 2};
    map.box = {32, 1, 1, 1, 1};
    map.stride = {4, 128, 256, 512, 1024};
    std::vector<std::uint32_t> memory(2048);
    std::iota(memory.begin(), memory.end(), 0);
    const auto out = bench.buffer(memory);
    map.address = out + 1024;
    const TensorMap::Bytes bytes = encode(map);
    bench.memory().write(out + 4096, bytes.data(), bytes.size());
    bench.run("k", {4, 1, 1}, {32, 1, 1}, out);
    const auto got = bench.values<std::uint32_t>(out, 128);
    const std::uint32_t first = 256 + 32 * ((1u << (rank - 1)) - 1);
    for (std::uint32_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], i / 32 % 2 == 0 ? i : first + i % 32) << rank << " " << i;
  }
}

TEST_P(InterpretedClusters, BarriersCountThreadsThatHaveNotEnded) {
  // Odd threads, and the last block but its thread 0, end at once; the others meet 100 times, in
  // two halves that part between arrival and wait.
  const auto got = run(R"(
and.b32 %r8, %r1, 1;
setp.ne.u32 %p1, %r8, 0;
@%p1 bra done;
sub.u32 %r9, %r3, 1;
setp.eq.u32 %p1, %r2, %r9;
setp.ne.and.u32 %p2, %r1, 0, %p1;
@%p2 bra done;
mov.u32 %r10, 0;
mov.u32 %r11, 0;
and.b32 %r12, %r1, 2;
setp.ne.u32 %p3, %r12, 0;
again:
barrier.cluster.arrive.relaxed;
@%p3 bra other;
add.u32 %r11, %r11, 1;
barrier.cluster.wait;
bra meet;
other:
add.u32 %r11, %r11, 2;
barrier.cluster.wait.acquire;
meet:
add.u32 %r10, %r10, 1;
setp.lt.u32 %p4, %r10, 100;
@%p4 bra again;
st.global.u32 [%rd3], %r11;
)",
                       8, 4, 40, GetParam());
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    const std::uint32_t thread = i % 40, rank = i / 40 % 4;
    const bool ends = thread % 2 != 0 || (rank == 3 && thread != 0);
    ASSERT_EQ(got[i], ends ? 0 : (thread & 2) != 0 ? 200 : 100) << i;
  }
}

TEST_P(InterpretedClusters, BarriersOrderTheBlocksRoundAfterRound) {
  // A token goes around: in round n the block of rank n mod size adds one to what it finds.
  const auto got = run(R"(
st.shared.u32 [%r4], 0;
mov.u32 %r8, 0;
)" + barrier + R"(
round:
rem.u32 %r9, %r8, %r3;
setp.ne.u32 %p1, %r9, %r2;
@%p1 bra idle;
ld.shared.u32 %r10, [%r4];
add.u32 %r10, %r10, 1;
add.u32 %r11, %r2, 1;
rem.u32 %r11, %r11, %r3;
mapa.shared::cluster.u32 %r12, %r4, %r11;
st.shared::cluster.u32 [%r12], %r10;
idle:
)" + barrier + R"(
add.u32 %r8, %r8, 1;
setp.lt.u32 %p2, %r8, 50;
@%p2 bra round;
ld.shared.u32 %r13, [%r4];
st.global.u32 [%rd3], %r13;
)",
                       5, 5, 1, GetParam());
  EXPECT_EQ(*std::max_element(got.begin(), got.end()), 50u);
}

TEST_P(InterpretedClusters, BlocksOfAClusterLieTogetherInTheGrid) {
  IsaBench bench(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) .reqnctapercluster 2, 2, 1
{
.reg .b32 %r<30>; .reg .b64 %rd<20>;
.shared .align 16 .b32 word;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ctaid.y;
mov.u32 %r3, %nctaid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd2, %r4, 4;
add.u64 %rd2, %rd1, %rd2;
st.shared.u32 [word], %r4;
)" + barrier + R"(
mapa.shared::cluster.u32 %r5, word, 3;
ld.shared::cluster.u32 %r6, [%r5];
mov.u32 %r7, %clusterid.y;
mov.u32 %r8, %clusterid.x;
mov.u32 %r9, %nclusterid.x;
mad.lo.u32 %r7, %r7, %r9, %r8;
mad.lo.u32 %r6, %r6, 100, %r7;
st.global.u32 [%rd2], %r6;
)" + barrier + "ret;\n}\n",
                 GetParam());
  bench.cluster = {2, 2, 1};
  const auto out = bench.buffer(std::vector<std::uint32_t>(24));
  bench.run("k", {6, 4, 1}, {1, 1, 1}, out);
  const auto got = bench.values<std::uint32_t>(out, 24);
  for (std::uint32_t y = 0; y < 4; ++y)
    for (std::uint32_t x = 0; x < 6; ++x)
      EXPECT_EQ(got[y * 6 + x], 100 * ((y | 1) * 6 + (x | 1)) + y / 2 * 3 + x / 2);
}

TEST_P(InterpretedClusters, ManyClustersGiveTheSameOnManyThreads) {
  IsaBench bench(text_of(fill + R"(
xor.b32 %r11, %r2, 1;
mapa.shared::cluster.u32 %r12, %r10, %r11;
ld.shared::cluster.u32 %r13, [%r12];
st.global.u32 [%rd3], %r13;
)" + barrier),
                 GetParam());
  bench.cluster = {2, 1, 1};
  bench.threads = 4;
  const auto out = bench.buffer(std::vector<std::uint32_t>(64 * 32));
  bench.run("k", {64, 1, 1}, {32, 1, 1}, out);
  const auto got = bench.values<std::uint32_t>(out, 64 * 32);
  for (std::uint32_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], 1000 * (i / 32 ^ 1) + i % 32) << i;
}

TEST_P(InterpretedClusters, MemoryOfNoBlockIsReportedWithItsRank) {
  const auto error = [&](const std::string& body) { return error_of(body, 4, 2, 32, GetParam()); };
  const std::string load =
      "ld.shared::cluster.u32 %r13, [%r12];\nst.global.u32 [%rd3], %r13;\n" + barrier;
  expect_parts(error("mapa.shared::cluster.u32 %r12, %r4, 2;\n" + load),
               {"test.ptx:22: kernel k, block (0, 0, 0), thread (0, 0, 0): ",
                "the address names the block of rank 2, of a cluster of 2 blocks"});
  expect_parts(error("mapa.shared::cluster.u32 %r12, %r4, 77;\n" + load),
               {"the block of rank ", "of a cluster of 2 blocks"});
  expect_parts(error("mapa.shared::cluster.u32 %r12, %r4, 1;\nadd.u32 %r12, %r12, 4096;\n" + load),
               {"out-of-bounds shared::cluster load of 4 bytes", "offset 0x1",
                "in the block of rank 1, which has"});
  expect_parts(error("mapa.shared::cluster.u32 %r12, %r4, 1;\nadd.u32 %r12, %r12, 2;\n" + load),
               {"misaligned shared::cluster load of 4 bytes"});
  expect_parts(error("mapa.u64 %rd5, %rd2, 3;\nst.u32 [%rd5], %r1;\n" + barrier),
               {"store", "the address names the block of rank 3, of a cluster of 2 blocks"});
}

TEST_P(InterpretedClusters, MemoryOfABlockThatHasEndedIsReported) {
  expect_parts(error_of(R"(
setp.eq.u32 %p1, %r2, 1;
@%p1 bra done;
mov.u32 %r9, 0;
spin:
add.u32 %r9, %r9, 1;
setp.lt.u32 %p1, %r9, 2000;
@%p1 bra spin;
mapa.shared::cluster.u32 %r12, %r4, 1;
st.shared::cluster.u32 [%r12], %r1;
)",
                        2, 2, 32, GetParam()),
               {"block (0, 0, 0)", "the block of rank 1 of the cluster has ended",
                "barrier.cluster before one of them ends"});
}

TEST_P(InterpretedClusters, ArrivalsAndWaitsThatDoNotAlternateAreReported) {
  expect_parts(error_of("barrier.cluster.arrive;\nbarrier.cluster.arrive;\n", 2, 2, 32, GetParam()),
               {"test.ptx:22: ", "arrives at barrier.cluster twice without waiting between"});
  expect_parts(error_of("barrier.cluster.wait;\n", 2, 2, 32, GetParam()),
               {"test.ptx:21: ", "waits at barrier.cluster without having arrived"});
}

TEST_P(InterpretedClusters, ABarrierThatWaitsForEverTellsForWhom) {
  // The block of rank 1 waits at a barrier of its own for more threads than it has.
  expect_parts(error_of(R"(
setp.eq.u32 %p1, %r2, 1;
@%p1 bra apart;
)" + barrier + R"(
bra done;
apart:
bar.sync 1, 96;
)" + barrier,
                        4, 2, 64, GetParam()),
               {"block (1, 0, 0)", "deadlock",
                "64 threads wait at barrier.cluster for 64 that have not arrived: block (1, 0, 0), "
                "warp 0 stands at line 29"});
}

TEST_P(InterpretedClusters, AWaitForAPhaseThatNobodyCompletesTellsWhoWaitsToo) {
  expect_parts(error_of(gate_for("16") + R"(
setp.eq.u32 %p1, %r2, 1;
@%p1 bra wait;
)" + barrier + R"(
bra done;
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [gate], 0;
@!%p2 bra wait;
)" + barrier,
                        2, 2, 32, GetParam()),
               {"block (1, 0, 0)", "16 bytes of transactions",
                "32 threads wait at barrier.cluster for 32 that have not arrived"});
}

TEST_P(InterpretedClusters, BytesAndTheirBarrierGoToOneBlock) {
  expect_parts(error_of(gate_for("4") + R"(
mapa.shared::cluster.u32 %r12, %r4, 1;
mapa.shared::cluster.u32 %r13, gate, 0;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r12], %r1, [%r13];
)" + barrier,
                        2, 2, 1, GetParam()),
               {"bytes go to the block of rank 1 of the cluster, the mbarrier is in that of rank 0",
                "map both addresses to one block"});
}

TEST_P(InterpretedClusters, AMaskThatNamesMoreBlocksThanThereAreIsReported) {
  expect_parts(error_of(gate_for("16") + R"(
mov.u16 %h1, 4;
@%p1 bra done;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 16, [gate], %h1;
)",
                        2, 2, 32, GetParam()),
               {"ctaMask", "the block of rank 2, of a cluster of 2 blocks"});
}

TEST_P(InterpretedClusters, ABlockWithoutAClusterIsOneOfItsOwn) {
  const auto got = run(R"(
st.shared.u32 [%r4], 5;
)" + barrier + R"(
mapa.shared::cluster.u32 %r12, %r4, %r2;
ld.shared::cluster.u32 %r13, [%r12];
ld.shared::cluster.u32 %r14, [%r4];
getctarank.shared::cluster.u32 %r15, %r12;
mad.lo.u32 %r13, %r13, 100, %r14;
add.u32 %r13, %r13, %r15;
st.global.u32 [%rd3], %r13;
)",
                       3, 1, 32, GetParam());
  for (const std::uint32_t word : got) EXPECT_EQ(word, 505u);
}

}  // namespace
}  // namespace lockstep::isa::clusters_test
