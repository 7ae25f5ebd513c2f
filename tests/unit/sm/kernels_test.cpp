/// Whole kernels on one SM and an ideal memory: the values are right.
#include <gtest/gtest.h>

#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::kernels_test {
namespace {

isa::Module workload(const std::string& name) {
  return isa::load_module(std::string(LOCKSTEP_SOURCE_DIR) + "/configs/workloads/" + name + ".ptx");
}

TEST(Kernels, VectorAddAddsVectors) {
  IdealMachine machine(workload("vector_add"), {});
  constexpr std::uint32_t n = 5000;
  for (std::uint32_t i = 0; i < n; ++i) {
    machine.put<float>(4 * i, static_cast<float>(i));
    machine.put<float>(0x10000 + 4 * i, 0.5f * static_cast<float>(i));
  }
  machine.launch("vector_add", {(n + 255) / 256, 1, 1}, {256, 1, 1},
                 {machine.address(0), machine.address(0x10000), machine.address(0x20000), n});
  machine.run();
  for (std::uint32_t i = 0; i < n; ++i)
    ASSERT_EQ(machine.get<float>(0x20000 + 4 * i), 1.5f * static_cast<float>(i)) << i;
}

TEST(Kernels, SgemmMultipliesMatrices) {
  IdealMachine machine(workload("sgemm"), {});
  constexpr std::uint32_t n = 64;
  for (std::uint32_t i = 0; i < n * n; ++i) {
    machine.put<float>(4 * i, static_cast<float>(i % 7));
    machine.put<float>(0x10000 + 4 * i, static_cast<float>(i % 5));
  }
  machine.launch("sgemm", {n / 16, n / 16, 1}, {16, 16, 1},
                 {machine.address(0), machine.address(0x10000), machine.address(0x20000), n});
  machine.run();
  for (std::uint32_t row = 0; row < n; ++row)
    for (std::uint32_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::uint32_t k = 0; k < n; ++k)
        sum += static_cast<float>((row * n + k) % 7) * static_cast<float>((k * n + column) % 5);
      ASSERT_EQ(machine.get<float>(0x20000 + 4 * (row * n + column)), sum) << row << "," << column;
    }
}

TEST(Kernels, RegistersThatAreReadFirstAreZeroWhateverAnEarlierBlockLeftInTheirPlace) {
  constexpr std::uint32_t blocks = 300;
  IdealMachine machine(kernel_of(R"(
    mov.u32 %r1, %ctaid.x;
    shl.b32 %r1, %r1, 5;
    mov.u32 %r2, %tid.x;
    add.u32 %r1, %r1, %r2;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd2, %rd0, %rd2;
    and.b32 %r3, %r2, 1;
    setp.eq.u32 %p0, %r3, 0;
    @%p0 mov.u32 %r4, 5;
    @%p0 mov.u64 %rd3, 6;
    @%p1 mov.u32 %r4, 9;
    st.global.u32 [%rd2], %r4;
    cvt.u32.u64 %r5, %rd3;
    st.global.u32 [%rd2+4], %r5;
    setp.ne.u32 %p1, %r2, 99;
    mov.u32 %r4, 77;
    mov.u64 %rd3, 78;
    @%p1 st.global.u32 [%rd0+1048568], %r4;
    @%p1 st.global.u64 [%rd0+1048560], %rd3;
  )"),
                       {});
  machine.launch("k", {blocks, 1, 1}, {32, 1, 1}, {machine.address(0), machine.address(0), 0});
  machine.run();
  for (std::uint32_t thread = 0; thread < 32 * blocks; ++thread) {
    ASSERT_EQ(machine.get<std::uint32_t>(8 * thread), thread % 2 == 0 ? 5u : 0u) << thread;
    ASSERT_EQ(machine.get<std::uint32_t>(8 * thread + 4), thread % 2 == 0 ? 6u : 0u) << thread;
  }
}

}  // namespace
}  // namespace lockstep::kernels_test
