/// Bulk copies as they are interpreted, and mistakes with them.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::bulk_copies_test {
namespace {

LOCKSTEP_BOTH_FORMS(InterpretedBulkCopies);

/// k(out, in, bytes): one thread brings `bytes` of in to room + 16, waits, and stores what has come
/// to out.
std::string through_shared(const std::string& load, const std::string& store) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 bytes)
{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
.shared .align 16 .b8 room[8192];
.shared .align 8 .b64 gate;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
ld.param.u32 %r1, [bytes];
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra done;
mbarrier.init.shared.b64 [gate], 1;
fence.mbarrier_init.release.cluster;
mov.u32 %r3, room;
mbarrier.arrive.expect_tx.shared.b64 %rd3, [gate], %r1;
)" + load +
         R"(
wait:
mbarrier.try_wait.shared.b64 %p2, [gate], %rd3;
@!%p2 bra wait;
fence.proxy.async.shared::cta;
)" + store +
         R"(
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:
ret;
}
)";
}
const std::string load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+16], [%rd2], %r1, "
    "[gate];\n";
const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3+16], %r1;\n";

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(7 * i + 1);
  return values;
}

TEST_P(InterpretedBulkCopies, BringAnyNumberOfUnitsThereAndBack) {
  IsaBench bench(through_shared(load, store), GetParam());
  const auto in = bench.buffer(numbers(2048));
  for (const std::uint32_t bytes : {0u, 16u, 112u, 128u, 4096u, 8176u}) {
    const auto out = bench.buffer(std::vector<std::uint32_t>(2048));
    bench.run("k", {1, 1, 1}, {33, 1, 1}, out, in, bytes);
    const auto got = bench.values<std::uint32_t>(out, 2048);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], 4 * i < bytes ? 7 * i + 1 : 0) << bytes;
  }
}

std::string mistake_of(const std::string& load_line, const std::string& store_line,
                       std::uint32_t bytes, bool lowered) {
  IsaBench bench(through_shared(load_line, store_line), lowered);
  const auto in = bench.buffer(numbers(64)), out = bench.buffer(numbers(64));
  try {
    bench.run("k", {1, 1, 1}, {32, 1, 1}, out, in, bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(InterpretedBulkCopies, MistakesAreToldWithThreadAndLine) {
  const auto has = [&](const std::string& load_line, std::uint32_t bytes, const char* part) {
    const std::string text = mistake_of(load_line, store, bytes, GetParam());
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("test.ptx:19: kernel k, block (0, 0, 0), thread (0, 0, 0): "),
              std::string::npos)
        << text;
  };
  const std::string begin = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  has(load, 24, "bulk copy of 24 bytes, which are no multiple of 16");
  has(load, 8192, "bulk copy of 8192 bytes at shared address 0x10, outside of the block's");
  has(load, 272, "out-of-bounds bulk copy of 272 bytes at 0x");
  has(begin + "[%r3+8], [%rd2], %r1, [gate];", 16, "shared address 0x8, which is not a multiple");
  has(begin + "[%r3], [%rd2+4], %r1, [gate];", 16, "which is not a multiple of 16");
  has(begin + "[%r3], [%rd2], %r1, [%r3+4];", 16, "a barrier at shared address 0x4");
  has(begin + "[%r3], [%rd2], %r1, [%r3+64];", 16, "no barrier has been initialised at shared");
}

TEST_P(InterpretedBulkCopies, WhoWaitsForMoreBytesThanComeIsToldSo) {
  IsaBench bench(through_shared("", store), GetParam());
  const auto in = bench.buffer(numbers(64)), out = bench.buffer(numbers(64));
  try {
    bench.run("k", {1, 1, 1}, {32, 1, 1}, out, in, 48u);
    ADD_FAILURE() << "it came through";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("waits for 0 more of 1 arrivals and for 48 bytes of "
                        "transactions"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace lockstep::isa::bulk_copies_test
