#pragma once

// Reference of the workload srad.

#include <algorithm>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::srad {

/// Coefficient of one pixel from its value and the differences to its four neighbours.
inline float coefficient(float here, float n, float s, float w, float e, float q0_squared) {
  const float inverse = 1.0f / here;
  const float laplacian = ((n + s) + (w + e)) * inverse;
  const float squares = std::fma(n, n, std::fma(s, s, std::fma(w, w, e * e)));
  const float gradient = squares * (inverse * inverse);
  const float numerator = std::fma(0.5f, gradient, -0.0625f * (laplacian * laplacian));
  const float root = std::fma(0.25f, laplacian, 1.0f);
  const float q_squared = numerator / (root * root);
  const float excess = (q_squared - q0_squared) / (q0_squared * (1.0f + q0_squared));
  return std::clamp(1.0f / (1.0f + excess), 0.0f, 1.0f);
}

inline void iterate(const Parameters& parameters, Buffers& buffers, float q0_squared) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  const auto image = buffers.as<float>("image");
  const auto north = buffers.as<float>("north");
  const auto south = buffers.as<float>("south");
  const auto west = buffers.as<float>("west");
  const auto east = buffers.as<float>("east");
  const auto c = buffers.as<float>("coefficient");
  const auto index = [&](int x, int y) {
    return std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int i = index(x, y);
      north[i] = image[index(x, y - 1)] - image[i];
      south[i] = image[index(x, y + 1)] - image[i];
      west[i] = image[index(x - 1, y)] - image[i];
      east[i] = image[index(x + 1, y)] - image[i];
      c[i] = coefficient(image[i], north[i], south[i], west[i], east[i], q0_squared);
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int i = index(x, y);
      const float vertical = std::fma(c[i], north[i], c[index(x, y + 1)] * south[i]);
      const float horizontal = std::fma(c[i], west[i], c[index(x + 1, y)] * east[i]);
      image[i] = std::fma(0.25f * real(parameters, "lambda"), vertical + horizontal, image[i]);
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  for (int i = 0; i < integer(parameters, "iterations"); ++i) {
    const double q0_squared = parameters.at("q0_squared") / (1 + 0.5 * i);
    iterate(parameters, buffers, static_cast<float>(q0_squared));
  }
}

}  // namespace lockstep::reference::srad
