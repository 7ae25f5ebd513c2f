/// Generic addresses: lanes of one instruction in different state spaces.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::generic_access_test {
namespace {

/// Thread t has %rd10: its word in global memory if t % 3 is 0, in shared if 1, in local if 2.
/// Each word holds 100 * t.
const char* const words_in_three_spaces = R"(
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, 100;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  st.global.u32 [%rd3], %r2;
  mov.u64 %rd4, block;
  add.u64 %rd4, %rd4, %rd2;
  st.shared.u32 [%rd4], %r2;
  cvta.shared.u64 %rd4, %rd4;
  mov.u64 %rd5, own;
  st.local.u32 [%rd5], %r2;
  cvta.local.u64 %rd5, %rd5;
  rem.u32 %r3, %r1, 3;
  setp.eq.u32 %p1, %r3, 1;
  setp.eq.u32 %p2, %r3, 2;
  selp.b64 %rd10, %rd4, %rd3, %p1;
  selp.b64 %rd10, %rd5, %rd10, %p2;
  add.u64 %rd11, %rd1, %rd2;
)";
const char* const variables = ".shared .align 4 .b8 block[512];\n.local .align 4 .b8 own[4];\n";

std::vector<std::uint32_t> run(const std::string& body) {
  IdealMachine machine(kernel_of(words_in_three_spaces + body, variables), {});
  machine.launch("k", {1, 1, 1}, {96, 1, 1}, {machine.address(0), machine.address(0x1000), 0});
  machine.run();
  std::vector<std::uint32_t> out;
  for (unsigned t = 0; t < 96; ++t) out.push_back(machine.get<std::uint32_t>(0x1000 + 4 * t));
  return out;
}

TEST(GenericAccess, LoadsAndStoresReachEachLanesSpace) {
  const auto out = run(R"(
  ld.u32 %r4, [%rd10];
  add.u32 %r4, %r4, 1;
  st.u32 [%rd10], %r4;
  ld.u32 %r5, [%rd10];
  st.global.u32 [%rd11], %r5;
)");
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(out[t], 100 * t + 1) << t;
}

TEST(GenericAccess, AtomicsReachGlobalAndSharedMemory) {
  const auto out = run(R"(
  mov.u32 %r5, 0;
  @!%p2 atom.add.u32 %r5, [%rd10], 7;
  ld.u32 %r6, [%rd10];
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%rd11], %r5;
)");
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(out[t], t % 3 == 2 ? 100 * t : 200 * t + 7) << t;
}

TEST(GenericAccess, AWholeWarpMayPointToLocalMemory) {
  const auto out = run(R"(
  st.u32 [%rd5], %r1;
  ld.u32 %r4, [%rd5];
  st.global.u32 [%rd11], %r4;
)");
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(out[t], t) << t;
}

}  // namespace
}  // namespace lockstep::generic_access_test
