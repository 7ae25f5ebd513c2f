/// An access whose page the TLB does not have is copied and waits: the copy has all that it needs.
/// Atomics: wide_atomics_test.cpp.  When it waits and leaves: translation_test.cpp.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::parked_access_test {
namespace {

TEST(ParkedAccess, StoresThatWaitForTheirPageLoseNoByte) {
  IdealMachine::Options options;
  options.knows_pages = false;
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %tid.x;
    xor.b32 %r2, %r1, 21;
    mul.wide.u32 %rd2, %r2, 16;
    add.s64 %rd2, %rd0, %rd2;
    add.u32 %r3, %r1, 1000;
    add.u32 %r4, %r1, 2000;
    add.u32 %r5, %r1, 3000;
    st.global.v4.u32 [%rd2+3968], {%r1, %r3, %r4, %r5};
    mul.wide.u32 %rd3, %r1, 3;
    add.s64 %rd3, %rd1, %rd3;
    st.global.u8 [%rd3+2048], %r1;
  )"),
                       options);
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(4096), 7});
  machine.run();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(machine.get<std::uint32_t>(3968 + 16 * (lane ^ 21) + 4 * i), lane + 1000 * i);
    EXPECT_EQ(machine.get<std::uint8_t>(4096 + 2048 + 3 * lane), lane);
  }
}

}  // namespace
}  // namespace lockstep::parked_access_test
