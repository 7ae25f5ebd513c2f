#pragma once

// Reference of the workload mri_gridding: every grid point over all samples.

#include <algorithm>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::mri_gridding {

struct Sample {
  float x, y, real, imaginary;
};

inline void acquire(Buffers& buffers, std::span<Sample> samples, float width) {
  const auto offset = buffers.as<float>("offset");
  const auto signal = buffers.as<float>("signal");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = {std::fma(offset[2 * i], width, 0.5f * width),
                  std::fma(offset[2 * i + 1], width, 0.5f * width), signal[2 * i],
                  signal[2 * i + 1]};
  }
}

inline void count(Buffers& buffers, std::span<const Sample> samples, int tiles) {
  const auto counts = buffers.as<unsigned>("count");
  const auto start = buffers.as<unsigned>("start");
  const auto tile = [&](float at) {
    return std::clamp(static_cast<int>(at), 0, 8 * tiles - 1) / 8;
  };
  for (const Sample& sample : samples) ++counts[tile(sample.y) * tiles + tile(sample.x)];
  for (std::size_t i = 0; i < counts.size(); ++i) start[i + 1] = start[i] + counts[i];
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int tiles = integer(parameters, "tiles");
  const int width = 8 * tiles;
  const int steps = integer(parameters, "steps");
  const float radius = real(parameters, "radius");
  const float scale = static_cast<float>(steps) / (radius * radius);
  const auto samples = buffers.as<Sample>("sample");
  const auto weight = buffers.as<float>("weight");
  const auto grid = buffers.as<float>("grid");
  acquire(buffers, samples, static_cast<float>(width));
  count(buffers, samples, tiles);
  for (int i = 0; i < width * width; ++i) {
    double real_sum = 0, imaginary_sum = 0;
    for (const Sample& sample : samples) {
      const float dx = sample.x - (static_cast<float>(i % width) + 0.5f);
      const float dy = sample.y - (static_cast<float>(i / width) + 0.5f);
      const float step = std::fma(dx, dx, dy * dy) * scale;
      if (step >= static_cast<float>(steps)) continue;
      const double w = weight[static_cast<int>(step)];
      real_sum += w * sample.real;
      imaginary_sum += w * sample.imaginary;
    }
    grid[2 * i] = static_cast<float>(real_sum);
    grid[2 * i + 1] = static_cast<float>(imaginary_sum);
  }
}

}  // namespace lockstep::reference::mri_gridding
