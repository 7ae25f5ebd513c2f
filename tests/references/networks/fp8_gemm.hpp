#pragma once

// Reference of the workload fp8_gemm, bit by bit: scales and codes as f32 makes them, sums of 32
// products as tensor cores of Hopper keep them, scaled sums as f32.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/references/elements.hpp"

namespace lockstep::reference::fp8_gemm {

constexpr int side = 128;      // elements that share a scale
constexpr int group = 32;      // products that tensor cores sum at once
constexpr int kept_bits = 13;  // below the largest exponent, and of a sum
constexpr int least_exponent = -6;

/// The largest magnitude of e4m3 is 448; there are no infinities.
inline std::uint8_t to_e4m3(float value) {
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::min(std::fabs(static_cast<double>(value)), 448.0);
  if (magnitude == 0) return static_cast<std::uint8_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), least_exponent);
  // The implicit bit carries into the exponent by itself.
  const int eighths = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  return static_cast<std::uint8_t>(sign | (eighths + (exponent - least_exponent) * 8));
}
/// A number, and the exponent under which tensor cores multiply it.
struct Factor {
  double value;
  int exponent;
};
inline Factor from_e4m3(std::uint8_t code) {
  const int field = code >> 3 & 15, fraction = code & 7;
  const int exponent = std::max(field, 1) - 7;
  const double magnitude = std::ldexp(field == 0 ? fraction : 8 + fraction, exponent - 3);
  return {(code & 0x80) != 0 ? -magnitude : magnitude, exponent};
}

/// Codes of rows first to first + rows, columns column to column + 128, with one scale; returns it.
inline float quantize(const std::vector<double>& in, int pitch, int first, int rows, int column,
                      std::vector<std::uint8_t>& codes) {
  float largest = 1e-4f;
  const auto for_each = [&](auto&& function) {
    for (int row = first; row < first + rows; ++row)
      for (int i = column; i < column + side; ++i)
        function(static_cast<std::size_t>(row) * pitch + i);
  };
  for_each([&](std::size_t at) { largest = std::max(largest, std::fabs(float(in[at]))); });
  const float scale = largest / 448.0f;
  for_each([&](std::size_t at) { codes[at] = to_e4m3(float(in[at]) / scale); });
  return scale;
}

/// sum + a b over 32 products: every term is cut off 13 bits below the largest exponent.
inline float add_products(float sum, const Factor* a, const Factor* b) {
  int top = sum != 0 ? std::ilogb(sum) : -1000;
  for (int i = 0; i < group; ++i)
    if (a[i].value * b[i].value != 0) top = std::max(top, a[i].exponent + b[i].exponent);
  if (top == -1000) return 0;
  const auto units = [&](double term) { return std::trunc(std::ldexp(term, kept_bits - top)); };
  double total = units(sum);
  for (int i = 0; i < group; ++i) total += units(a[i].value * b[i].value);
  if (total == 0) return 0;
  const double result = std::ldexp(total, top - kept_bits);
  const int last = std::ilogb(result) - kept_bits;
  return static_cast<float>(std::ldexp(std::trunc(std::ldexp(result, -last)), last));
}

inline std::vector<Factor> factors_of(const std::vector<std::uint8_t>& codes) {
  std::vector<Factor> factors;
  for (const std::uint8_t code : codes) factors.push_back(from_e4m3(code));
  return factors;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int m = integer(parameters, "m"), n = integer(parameters, "n");
  const int k = integer(parameters, "k"), steps = k / side;
  const auto x = load_all(buffers, "x", isa::Type::f16), y = load_all(buffers, "y", isa::Type::f16);
  std::vector<std::uint8_t> a(x.size()), b(y.size());
  std::vector<double> a_scales(x.size() / side), b_scales(y.size() / side / side);
  for (int step = 0; step < steps; ++step) {
    for (int row = 0; row < m; ++row)
      a_scales[step * m + row] = quantize(x, k, row, 1, step * side, a);
    for (int block = 0; block < n / side; ++block)
      b_scales[block * steps + step] = quantize(y, k, block * side, side, step * side, b);
  }
  const std::vector<Factor> left = factors_of(a), right = factors_of(b);
  std::vector<double> c(static_cast<std::size_t>(m) * n);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      float total = 0;
      for (int step = 0; step < steps; ++step) {
        float sum = 0;
        for (int at = step * side; at < (step + 1) * side; at += group)
          sum = add_products(sum, &left[row * k + at], &right[column * k + at]);
        const float scale =
            float(a_scales[step * m + row]) * float(b_scales[column / side * steps + step]);
        total = std::fmaf(scale, sum, total);
      }
      c[row * n + column] = total;
    }
  buffers.bytes.at("a").assign(reinterpret_cast<const std::byte*>(a.data()),
                               reinterpret_cast<const std::byte*>(a.data() + a.size()));
  buffers.bytes.at("b").assign(reinterpret_cast<const std::byte*>(b.data()),
                               reinterpret_cast<const std::byte*>(b.data() + b.size()));
  store_all(buffers, "a_scales", isa::Type::f32, a_scales);
  store_all(buffers, "b_scales", isa::Type::f32, b_scales);
  store_all(buffers, "c", isa::Type::bf16, c);
}

}  // namespace lockstep::reference::fp8_gemm
