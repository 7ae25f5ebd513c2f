#pragma once

// Reference of the workload pipeline_stages: the whole batch through one layer after the other.

#include <string>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::pipeline_stages {

inline std::vector<float> through(std::span<const float> layer, const std::vector<float>& in,
                                  std::size_t width) {
  std::vector<float> out(in.size());
  for (std::size_t at = 0; at < in.size(); ++at) {
    const std::size_t row = at / width * width, column = at % width;
    float sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += in[row + i] * layer[i * width + column];
    out[at] = sum > 0 ? sum : 0;
  }
  return out;
}

/// What is between the stages at the end is of the last part.
inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto width = static_cast<std::size_t>(integer(parameters, "width"));
  const auto part = static_cast<std::size_t>(integer(parameters, "rows")) * width;
  constexpr std::size_t stages = 4;
  const auto batch = buffers.as<float>("batch");
  std::vector<float> values(batch.begin(), batch.end());
  for (std::size_t k = 0; k < stages; ++k) {
    values = through(buffers.as<float>("layer" + std::to_string(k)), values, width);
    const auto last = values.end() - static_cast<std::ptrdiff_t>(part);
    if (k + 1 == stages) {
      std::copy(values.begin(), values.end(), buffers.as<float>("result").begin());
    } else {
      std::copy(last, values.end(), buffers.as<float>("made" + std::to_string(k)).begin());
      std::copy(last, values.end(), buffers.as<float>("passed" + std::to_string(k + 1)).begin());
    }
  }
}

}  // namespace lockstep::reference::pipeline_stages
