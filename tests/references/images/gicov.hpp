#pragma once

// Reference of the workload gicov, in double precision.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::gicov {

inline void table(const Parameters& parameters, Buffers& buffers) {
  const int directions = integer(parameters, "directions");
  for (int i = 0; i < integer(parameters, "circles") * directions; ++i) {
    const int radius = 3 + i / directions;
    const double angle = 2 * std::numbers::pi * (i % directions + 0.3) / directions;
    buffers.as<int>("dx")[i] = static_cast<int>(std::lrint(radius * std::cos(angle)));
    buffers.as<int>("dy")[i] = static_cast<int>(std::lrint(radius * std::sin(angle)));
    buffers.as<float>("cosine")[i % directions] = static_cast<float>(std::cos(angle));
    buffers.as<float>("sine")[i % directions] = static_cast<float>(std::sin(angle));
  }
}

/// Of one circle around one pixel.
inline double score(Buffers& buffers, int pixel, int width, int circle, int directions) {
  double sum = 0, squares = 0;
  for (int k = 0; k < directions; ++k) {
    const int at = circle * directions + k;
    const int other = pixel + buffers.as<int>("dy")[at] * width + buffers.as<int>("dx")[at];
    const double along =
        double{buffers.as<float>("gradient_x")[other]} * buffers.as<float>("cosine")[k] +
        double{buffers.as<float>("gradient_y")[other]} * buffers.as<float>("sine")[k];
    sum += along;
    squares += along * along;
  }
  const double mean = sum / directions;
  return mean * mean / ((squares - mean * sum) / (directions - 1));
}

inline void dilate(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width"), height = integer(parameters, "height");
  const int radius = integer(parameters, "radius");
  const auto scores = buffers.as<float>("score");
  for (int pixel = 0; pixel < width * height; ++pixel) {
    float best = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int across = x - pixel % width, down = y - pixel / width;
        if (across * across + down * down > radius * radius) continue;
        best = std::max(best, scores[y * width + x]);
      }
    }
    buffers.as<float>("dilated")[pixel] = best;
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width"), height = integer(parameters, "height");
  const int circles = integer(parameters, "circles");
  const int border = 3 + circles - 1;
  table(parameters, buffers);
  for (int y = border; y < height - border; ++y) {
    for (int x = border; x < width - border; ++x) {
      double best = 0;
      for (int circle = 0; circle < circles; ++circle) {
        best = std::max(
            best, score(buffers, y * width + x, width, circle, integer(parameters, "directions")));
      }
      buffers.as<float>("score")[y * width + x] = static_cast<float>(best);
    }
  }
  dilate(parameters, buffers);
}

}  // namespace lockstep::reference::gicov
