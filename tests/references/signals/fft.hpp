#pragma once

// Reference of the workload fft: the sums of the definition in double precision.

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::fft {

using Complex = std::complex<double>;

inline Complex root(int power) {
  return std::polar(1.0, -2 * std::numbers::pi * (power % 256) / 256);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto in = buffers.as<std::complex<float>>("in");
  const auto out = buffers.as<std::complex<float>>("out");
  std::vector<Complex> roots;
  for (int power = 0; power < 256; ++power) roots.push_back(root(power));
  for (int k = 0; k < 128; ++k)
    buffers.as<std::complex<float>>("root")[k] = std::complex<float>(roots[k]);
  for (int first = 0; first < 256 * integer(parameters, "batch"); first += 256) {
    for (int k = 0; k < 256; ++k) {
      Complex sum = 0;
      for (int i = 0; i < 256; ++i) sum += Complex(in[first + i]) * roots[i * k % 256];
      out[first + k] = std::complex<float>(sum);
    }
  }
}

}  // namespace lockstep::reference::fft
