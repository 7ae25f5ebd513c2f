/// Nanoseconds for one matrix product of a warp, by form, arithmetic and x86-64 level.
#include "models/isa/semantics/matrix.hpp"

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

namespace lockstep::isa {
namespace {

/// f16 around one; as other types ordinary numbers too, none of fp8 NaN.
std::uint32_t ordinary(std::mt19937& random) {
  return (static_cast<std::uint32_t>(random()) & 0x83bf83bf) | 0x38003800;
}

void run(benchmark::State& state, const MatrixForm& form, CpuLevel level) {
  constexpr unsigned most_registers = 8, words = 64;
  alignas(64) static std::uint32_t rows[4 * most_registers][words];
  std::mt19937 random(1);
  for (auto& row : rows)
    for (std::uint32_t& word : row) word = ordinary(random);
  const std::uint32_t *a[most_registers], *b[most_registers], *c[most_registers];
  std::uint32_t* d[most_registers];
  for (unsigned i = 0; i < most_registers; ++i) {
    a[i] = rows[i];
    b[i] = rows[most_registers + i];
    c[i] = rows[2 * most_registers + i];
    d[i] = rows[3 * most_registers + i];
  }
  const MatrixMultiply multiply = matrix_multiply(level);
  for (auto _ : state) {
    multiply(form, a, b, c, d);
    benchmark::ClobberMemory();
  }
}

MatrixForm form_of(unsigned m, unsigned n, unsigned k, MatrixElement element, MatrixResult result,
                   MatrixArithmetic arithmetic) {
  MatrixForm form;
  form.m = static_cast<std::uint8_t>(m);
  form.n = static_cast<std::uint8_t>(n);
  form.k = static_cast<std::uint16_t>(k);
  form.a = form.b = element;
  form.c = form.d = result;
  form.arithmetic = arithmetic;
  form.wmma = n == 16;
  if (element == MatrixElement::b1) form.operation = MatrixOperation::xor_popc;
  return form;
}

std::vector<MatrixForm> forms() {
  using enum MatrixElement;
  using enum MatrixArithmetic;
  constexpr auto f32 = MatrixResult::f32, half = MatrixResult::f16, s32 = MatrixResult::s32;
  return {form_of(16, 8, 16, f16, f32, ampere),
          form_of(16, 8, 16, f16, half, ampere),
          form_of(16, 8, 16, f16, f32, hopper),
          form_of(16, 8, 16, bf16, f32, ampere),
          form_of(16, 8, 8, tf32, f32, ampere),
          form_of(16, 8, 32, e4m3, f32, ada),
          form_of(16, 8, 32, e4m3, f32, hopper),
          form_of(16, 8, 32, s8, s32, ampere),
          form_of(16, 8, 64, s4, s32, ampere),
          form_of(16, 8, 256, b1, s32, ampere),
          form_of(8, 8, 4, f64, MatrixResult::f64, ampere),
          form_of(8, 8, 4, f16, f32, volta),
          form_of(8, 8, 4, f16, f32, ampere),
          form_of(16, 16, 16, f16, f32, volta),
          form_of(16, 16, 16, f16, f32, ampere)};
}

}  // namespace
}  // namespace lockstep::isa

int main(int argc, char** argv) {
  using namespace lockstep::isa;
  for (const MatrixForm& form : forms())
    for (int level = 2; level <= static_cast<int>(best_cpu_level()); ++level)
      benchmark::RegisterBenchmark(
          (name_of(form) + "/" + name_of(form.arithmetic) + "/v" + std::to_string(level)).c_str(),
          [=](benchmark::State& state) { run(state, form, static_cast<CpuLevel>(level)); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
