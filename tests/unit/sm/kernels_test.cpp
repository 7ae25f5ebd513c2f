/// Whole kernels on one SM and an ideal memory: the values are right.
#include <gtest/gtest.h>

#include "tests/unit/sm/ideal_machine.hpp"

namespace lockstep {
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

}  // namespace
}  // namespace lockstep
