/// Atomics of more than 8 bytes a lane travel as two records, at most 16 lanes a request.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::wide_atomics_test {
namespace {

/// With pages the TLB has, and with pages that come when the atomics have been put aside.
class WideAtomics : public testing::TestWithParam<bool> {
 protected:
  static IdealMachine::Options options() {
    IdealMachine::Options options;
    options.knows_pages = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(, WideAtomics, testing::Bool(), [](const auto& test) {
  return test.param ? "PagesKnown" : "PagesComeLater";
});

void run(IdealMachine& machine, std::uint32_t threads) {
  machine.launch("k", {1, 1, 1}, {threads, 1, 1},
                 {machine.address(0), machine.address(0x1000), 0u});
  machine.run();
}

TEST_P(WideAtomics, AllLanesAddAVectorToOnePlace) {
  IdealMachine machine(kernel_of(R"(
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f40000000;
  mov.f32 %f3, 0f40400000;
  mov.f32 %f4, 0f40800000;
  red.global.add.v4.f32 [%rd0], {%f1, %f2, %f3, %f4};
)"),
                       options());
  run(machine, 64);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(machine.get<float>(4 * i), 64.0f * float(i + 1));
}

TEST_P(WideAtomics, EachLaneGetsItsOwnOldVector) {
  IdealMachine machine(kernel_of(R"(
  mov.u32 %r1, %tid.x;
  xor.b32 %r3, %r1, 5;
  mul.wide.u32 %rd2, %r3, 16;
  add.s64 %rd3, %rd0, %rd2;
  add.s64 %rd4, %rd1, %rd2;
  mov.f32 %f1, 0f3F800000;
  atom.global.add.v4.f32 {%f2, %f3, %f4, %f5}, [%rd3], {%f1, %f1, %f1, %f1};
  st.global.v4.f32 [%rd4], {%f2, %f3, %f4, %f5};
)"),
                       options());
  for (unsigned i = 0; i < 4 * 32; ++i) machine.put<float>(4 * i, static_cast<float>(i));
  run(machine, 32);
  for (unsigned i = 0; i < 4 * 32; ++i) {
    EXPECT_EQ(machine.get<float>(4 * i), static_cast<float>(i + 1));
    EXPECT_EQ(machine.get<float>(0x1000 + 4 * i), static_cast<float>(i));
  }
}

TEST_P(WideAtomics, ALockFreeCounterOf128BitsLosesNothing) {
  // Each lane tries until its compare-and-swap succeeds; the halves count up and down.
  IdealMachine machine(kernel_of(R"(
  ld.volatile.global.v2.u64 {%rd2, %rd3}, [%rd0];
  mov.b128 %q0, {%rd2, %rd3};
again:
  mov.b128 {%rd2, %rd3}, %q0;
  add.u64 %rd4, %rd2, 1;
  add.u64 %rd5, %rd3, -1;
  mov.b128 %q1, {%rd4, %rd5};
  atom.global.cas.b128 %q2, [%rd0], %q0, %q1;
  mov.b128 {%rd6, %rd7}, %q2;
  mov.b128 %q0, %q2;
  setp.ne.u64 %p1, %rd6, %rd2;
  @%p1 bra again;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd8, %r1, 8;
  add.s64 %rd8, %rd1, %rd8;
  st.global.u64 [%rd8], %rd6;
)",
                                 ".reg .b128 %q<3>;"),
                       options());
  run(machine, 96);
  EXPECT_EQ(machine.get<std::uint64_t>(0), 96u);
  EXPECT_EQ(machine.get<std::uint64_t>(8), std::uint64_t{0} - 96);
  std::vector<bool> seen(96);
  for (unsigned t = 0; t < 96; ++t) seen.at(machine.get<std::uint64_t>(0x1000 + 8 * t)) = true;
  EXPECT_EQ(seen, std::vector<bool>(96, true));
}

}  // namespace
}  // namespace lockstep::wide_atomics_test
