#pragma once

// Reference of the workload backprop. The sums are exact to the order of additions of the kernel's
// tree; the logistic function is only as close as the GPU's approximate exponential.

#include <array>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::backprop {

/// Sum of products by 256 threads and a halving tree.
inline float weighted_sum(std::span<const float> input, std::span<const float> weight) {
  std::array<float, 256> sums{};
  for (std::size_t i = 0; i < input.size(); ++i) {
    sums[i % 256] = std::fma(input[i], weight[i], sums[i % 256]);
  }
  for (int half = 128; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int inputs = integer(parameters, "inputs");
  const float rate = real(parameters, "rate");
  const float momentum = real(parameters, "momentum");
  const auto input = buffers.as<float>("input");
  const auto weight = buffers.as<float>("weight");
  const auto change = buffers.as<float>("change");
  const auto hidden = buffers.as<float>("hidden");
  const auto target = buffers.as<float>("target");
  for (int epoch = 0; epoch < integer(parameters, "epochs"); ++epoch) {
    for (int unit = 0; unit < integer(parameters, "units"); ++unit) {
      const float sum = weighted_sum(input, weight.subspan(unit * inputs, inputs));
      const float output = 1.0f / (1.0f + std::exp(-sum));
      hidden[unit] = output;
      const float delta = (output * (1.0f - output)) * (target[unit] - output);
      for (int i = 0; i < inputs; ++i) {
        const int w = unit * inputs + i;
        change[w] = std::fma(rate * delta, input[i], momentum * change[w]);
        weight[w] += change[w];
      }
    }
  }
}

}  // namespace lockstep::reference::backprop
