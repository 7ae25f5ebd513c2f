#include <cmath>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::workloads_test {
namespace {

// The other workloads run against their references with the host programs (tests/unit/host).
LOCKSTEP_BOTH_FORMS(Workloads);

IsaBench open(const std::string& name, bool lowered) {
  return IsaBench::from_file(LOCKSTEP_SOURCE_DIR "/configs/workloads/" + name + ".ptx", lowered);
}

TEST_P(Workloads, VectorAddEqualsTheSumOfItsInputs) {
  IsaBench bench = open("vector_add", GetParam());
  constexpr std::uint32_t n = 1000;
  std::vector<float> a(n), b(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    a[i] = 0.25f * static_cast<float>(i);
    b[i] = 1.0f / static_cast<float>(i + 1);
  }
  const auto pa = bench.buffer(a), pb = bench.buffer(b), pc = bench.allocate(4 * n);
  bench.run("vector_add", {4, 1, 1}, {256, 1, 1}, pa, pb, pc, n);
  const auto c = bench.values<float>(pc, n);
  for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(c[i], a[i] + b[i]) << i;
}

TEST_P(Workloads, SgemmAddsInTheOrderOfTheTextbook) {
  IsaBench bench = open("sgemm", GetParam());
  constexpr std::uint32_t n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 17) * 0.37f - 2.0f;
    b[i] = static_cast<float>(i % 23) * 0.21f - 1.5f;
  }
  const auto pa = bench.buffer(a), pb = bench.buffer(b), pc = bench.allocate(4 * n * n);
  bench.run("sgemm", {n / 16, n / 16, 1}, {16, 16, 1}, pa, pb, pc, n);
  const auto c = bench.values<float>(pc, n * n);
  for (std::uint32_t row = 0; row < n; ++row)
    for (std::uint32_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::uint32_t k = 0; k < n; ++k) sum = std::fma(a[row * n + k], b[k * n + column], sum);
      EXPECT_EQ(c[row * n + column], sum);
    }
}

}  // namespace
}  // namespace lockstep::isa::workloads_test
