#pragma once

// Reference of the workload heartwall: each point looks everywhere in reach, sums taken directly.

#include <algorithm>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::heartwall {

inline constexpr int side = 10, reach = 6;

struct Image {
  std::span<const unsigned char> pixels;
  int width, height;

  int at(int x, int y) const {
    return pixels[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
  }
};

/// How well the square at (x, y) fits the template.
inline float correlation(const Image& image, std::span<const int> wanted, int x, int y) {
  int products = 0, sum = 0, squares = 0, total = 0;
  for (int i = 0; i < side * side; ++i) {
    const int pixel = image.at(x + i % side, y + i / side);
    products += wanted[i] * pixel;
    sum += pixel;
    squares += pixel * pixel;
    total += wanted[i];
  }
  const int covariance = side * side * products - total * sum;
  const int variance = std::max(side * side * squares - sum * sum, 1);
  return static_cast<float>(covariance) / std::sqrt(static_cast<float>(variance));
}

inline void track(const Image& image, std::span<int> wanted, int& x, int& y, float& score) {
  int best_x = 0, best_y = 0;
  score = -3.0e38f;
  for (int dy = -reach; dy <= reach; ++dy) {
    for (int dx = -reach; dx <= reach; ++dx) {
      const float here = correlation(image, wanted, x + dx, y + dy);
      if (here <= score) continue;
      score = here;
      best_x = x + dx;
      best_y = y + dy;
    }
  }
  for (int i = 0; i < side * side; ++i) {
    wanted[i] = (3 * wanted[i] + image.at(best_x + i % side, best_y + i / side) + 2) / 4;
  }
  x = std::clamp(best_x, 0, image.width - side);
  y = std::clamp(best_y, 0, image.height - side);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width"), height = integer(parameters, "height");
  const auto images = buffers.as<unsigned char>("images");
  const auto x = buffers.as<int>("x"), y = buffers.as<int>("y");
  const auto templates = buffers.as<int>("templates");
  for (int p = 0; p < integer(parameters, "points"); ++p) {
    const auto wanted = templates.subspan(p * side * side, side * side);
    for (int frame = 0; frame < integer(parameters, "frames"); ++frame) {
      const Image image{images.subspan(frame * width * height, width * height), width, height};
      if (frame == 0) {
        for (int i = 0; i < side * side; ++i)
          wanted[i] = image.at(x[p] + i % side, y[p] + i / side);
      } else {
        track(image, wanted, x[p], y[p], buffers.as<float>("score")[p]);
      }
    }
  }
}

}  // namespace lockstep::reference::heartwall
