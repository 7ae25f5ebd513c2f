#pragma once

// Reference of the workload mri_q with the exact sine and cosine in double precision: the kernel's
// fast ones have an absolute error of some 1e-6 per sample.

#include <cmath>
#include <numbers>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::mri_q {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int samples = integer(parameters, "samples");
  const auto real_part = buffers.as<float>("real");
  const auto imaginary_part = buffers.as<float>("imaginary");
  const auto sample = buffers.as<float>("sample");
  const auto x = buffers.as<float>("x");
  const auto y = buffers.as<float>("y");
  const auto z = buffers.as<float>("z");
  const auto q = buffers.as<float>("q");
  for (int k = 0; k < samples; ++k) {
    const float square = imaginary_part[k] * imaginary_part[k];
    sample[4 * k + 3] = std::fma(real_part[k], real_part[k], square);
  }
  for (std::size_t v = 0; v < x.size(); ++v) {
    double real_sum = 0, imaginary_sum = 0;
    for (int k = 0; k < samples; ++k) {
      const float* s = &sample[4 * k];
      const double turns = double{s[0]} * x[v] + double{s[1]} * y[v] + double{s[2]} * z[v];
      real_sum += s[3] * std::cos(2 * std::numbers::pi * turns);
      imaginary_sum += s[3] * std::sin(2 * std::numbers::pi * turns);
    }
    q[2 * v] = static_cast<float>(real_sum);
    q[2 * v + 1] = static_cast<float>(imaginary_sum);
  }
}

}  // namespace lockstep::reference::mri_q
