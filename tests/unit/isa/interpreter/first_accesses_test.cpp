/// Where a launch's first warp surely reads and writes: registers and parameters are known, what is
/// loaded is not.
#include "models/isa/interpreter/first_accesses.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::first_accesses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t out = 0x1000;

/// Addresses of a block of one thread with %rd1 = out, read or (1 added, places are multiples of
/// 4) written.
std::vector<std::uint64_t> accesses(const std::string& body, std::uint32_t threads = 1) {
  IsaBench bench(kernel_text(body));
  std::vector<std::byte> parameters(bench.module().kernels[0].reference.parameter_bytes);
  std::memcpy(parameters.data(), &out, sizeof out);
  std::vector<std::uint64_t> found;
  follow_first_warp(
      {.module = bench.module(), .block = {threads, 1, 1}, .parameters = parameters},
      [&](const FirstAccess& access) { found.push_back(access.address + access.writes); });
  return found;
}

TEST(FirstAccesses, AreThoseOfItsThreadsInTheirOrder) {
  EXPECT_THAT(accesses("ld.global.b32 %r5, [%rd2];\nst.global.b32 [%rd2+64], %r5;\nret;", 2),
              ElementsAre(out, out + 4, out + 65, out + 69));
}

TEST(FirstAccesses, AnAtomicWrites) {
  EXPECT_THAT(accesses("atom.global.add.u32 %r5, [%rd1], 1;\nret;"), ElementsAre(out + 1));
}

TEST(FirstAccesses, SharedMemoryIsNone) {
  EXPECT_THAT(accesses(".shared .align 4 .b32 s;\nst.shared.b32 [s], 1;\nld.shared.b32 %r5, [s];\n"
                       "ret;"),
              IsEmpty());
}

TEST(FirstAccesses, FollowBranchesOnWhatIsKnown) {
  EXPECT_THAT(accesses("setp.gt.u32 %p1, %r1, 0;\n@%p1 bra SECOND;\n"
                       "ld.global.b32 %r5, [%rd1];\nret;\nSECOND:\nld.global.b32 %r5, [%rd1+4];\n"
                       "ret;"),
              ElementsAre(out));
}

TEST(FirstAccesses, LeaveOutWhatAGuardLeavesOut) {
  EXPECT_THAT(accesses("setp.ne.u32 %p1, %r1, 0;\n@%p1 ld.global.b32 %r5, [%rd1];\nret;"),
              IsEmpty());
}

TEST(FirstAccesses, LoopsAreFollowed) {
  EXPECT_THAT(accesses("mov.u32 %r5, 0;\nAGAIN:\nld.global.b32 %r6, [%rd1];\n"
                       "add.u32 %r5, %r5, 1;\nadd.u64 %rd1, %rd1, 4;\nsetp.lt.u32 %p1, %r5, 3;\n"
                       "@%p1 bra AGAIN;\nret;"),
              ElementsAre(out, out + 4, out + 8));
}

TEST(FirstAccesses, EndWhereTheCourseDependsOnWhatWasLoaded) {
  const std::string load = "ld.global.b32 %r5, [%rd1];\nadd.u32 %r6, %r5, 1;\n";
  const std::string rest = "ld.global.b32 %r7, [%rd1+4];\nret;";
  EXPECT_THAT(accesses(load + rest), ElementsAre(out, out + 4));
  EXPECT_THAT(accesses(load + "setp.eq.u32 %p1, %r6, 7;\n@%p1 bra END;\n" +
                       "ld.global.b32 %r7, [%rd1+4];\nEND:\nret;"),
              ElementsAre(out));
}

TEST(FirstAccesses, AReadOfAnUnknownPlaceIsNoneAndAWriteEndsThem) {
  const std::string pointer = "ld.global.b64 %rd5, [%rd1];\nadd.u64 %rd5, %rd5, 8;\n";
  const std::string rest = "ld.global.b32 %r7, [%rd1+4];\nret;";
  EXPECT_THAT(accesses(pointer + "ld.global.b32 %r5, [%rd5];\n" + rest), ElementsAre(out, out + 4));
  EXPECT_THAT(accesses(pointer + "st.global.b32 [%rd5], 1;\n" + rest), ElementsAre(out));
}

TEST(FirstAccesses, AValueWrittenOverWhatWasLoadedIsKnown) {
  EXPECT_THAT(accesses("ld.global.b32 %r5, [%rd1];\nmov.u32 %r5, 1;\nsetp.eq.u32 %p1, %r5, 1;\n"
                       "@%p1 ld.global.b32 %r6, [%rd1+4];\nret;"),
              ElementsAre(out, out + 4));
}

TEST(FirstAccesses, EndAtABarrierAndAtWhatOnlyTheMachineKnows) {
  const std::string load = "ld.global.b32 %r5, [%rd1];\nret;";
  EXPECT_THAT(accesses("bar.sync 0;\n" + load), IsEmpty());
  EXPECT_THAT(accesses("mov.u32 %r6, %smid;\nsetp.eq.u32 %p1, %r6, 0;\n@!%p1 bra END;\n"
                       "ld.global.b32 %r5, [%rd1];\nEND:\nret;"),
              IsEmpty());
}

TEST(FirstAccesses, ALoopWithoutEndIsLeft) {
  EXPECT_THAT(accesses("AGAIN:\nbra AGAIN;\n"), IsEmpty());
}

}  // namespace
}  // namespace lockstep::isa::first_accesses_test
