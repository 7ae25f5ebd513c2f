#pragma once

// Reference of the workload data_parallel_step.

#include <array>
#include <string>
#include <vector>

#include "tests/references/buffers.hpp"
#include "tests/references/several_gpus/ring_sum.hpp"

namespace lockstep::reference::data_parallel_step {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto features = static_cast<std::size_t>(integer(parameters, "features"));
  const auto batch = static_cast<std::size_t>(integer(parameters, "batch"));
  const float rate = real(parameters, "rate");
  constexpr std::size_t gpus = 4;
  const auto of = [&](const char* name, std::size_t k) {
    return buffers.as<float>(name + std::to_string(k));
  };
  for (int step = 0; step < integer(parameters, "steps"); ++step) {
    std::array<std::span<float>, gpus> gradients, arrived;
    for (std::size_t k = 0; k < gpus; ++k) {
      const auto samples = of("samples", k), error = of("error", k), weights = of("weights", k);
      gradients[k] = of("gradient", k);
      arrived[k] = of("arrived", k);
      for (std::size_t s = 0; s < batch; ++s) {
        error[s] = -of("targets", k)[s];
        for (std::size_t f = 0; f < features; ++f) error[s] += samples[f * batch + s] * weights[f];
      }
      for (std::size_t f = 0; f < features; ++f) {
        gradients[k][f] = 0;
        for (std::size_t s = 0; s < batch; ++s)
          gradients[k][f] += samples[f * batch + s] * error[s];
      }
    }
    sum_in_ring(gradients, arrived, features, 1);
    for (std::size_t k = 0; k < gpus; ++k)
      for (std::size_t f = 0; f < features; ++f) of("weights", k)[f] -= rate * gradients[k][f];
  }
}

}  // namespace lockstep::reference::data_parallel_step
