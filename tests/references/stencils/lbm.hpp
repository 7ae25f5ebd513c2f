#pragma once

// Reference of the workload lbm, written from the lattice's direction table instead of by hand for
// each direction, in double precision: it agrees with the kernel to rounding, not to the bit.

#include <array>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::lbm {

struct Direction {
  int x, y, z;
};

/// Opposite directions stand side by side, the first pair at 1.
inline constexpr std::array<Direction, 19> directions{{{0, 0, 0},
                                                       {1, 0, 0},
                                                       {-1, 0, 0},
                                                       {0, 1, 0},
                                                       {0, -1, 0},
                                                       {0, 0, 1},
                                                       {0, 0, -1},
                                                       {1, 1, 0},
                                                       {-1, -1, 0},
                                                       {1, -1, 0},
                                                       {-1, 1, 0},
                                                       {1, 0, 1},
                                                       {-1, 0, -1},
                                                       {1, 0, -1},
                                                       {-1, 0, 1},
                                                       {0, 1, 1},
                                                       {0, -1, -1},
                                                       {0, 1, -1},
                                                       {0, -1, 1}}};

inline double weight(int i) {
  return i == 0 ? 1.0 / 3 : i < 7 ? 1.0 / 18 : 1.0 / 36;
}

/// Relaxes towards the equilibrium of the distributions' own density and velocity.
inline std::array<double, 19> collide(const std::array<double, 19>& f, double omega) {
  double rho = 0, x = 0, y = 0, z = 0;
  for (int i = 0; i < 19; ++i) {
    rho += f[i];
    x += f[i] * directions[i].x;
    y += f[i] * directions[i].y;
    z += f[i] * directions[i].z;
  }
  x /= rho, y /= rho, z /= rho;
  const double square = x * x + y * y + z * z;
  std::array<double, 19> result{};
  for (int i = 0; i < 19; ++i) {
    const double speed = directions[i].x * x + directions[i].y * y + directions[i].z * z;
    const double equilibrium =
        weight(i) * rho * (1 + 3 * speed + 4.5 * speed * speed - 1.5 * square);
    result[i] = f[i] + omega * (equilibrium - f[i]);
  }
  return result;
}

inline std::array<double, 19> bounce(const std::array<double, 19>& f) {
  std::array<double, 19> result = f;
  for (int i = 1; i < 19; ++i) result[i] = f[i % 2 == 1 ? i + 1 : i - 1];
  return result;
}

inline void step(const Parameters& parameters, Buffers& buffers) {
  const int width = integer(parameters, "width");
  const int height = integer(parameters, "height");
  const int depth = integer(parameters, "depth");
  const int cells = width * height * depth;
  const auto from = buffers.as<float>("f");
  const auto to = buffers.as<float>("next");
  const auto obstacle = buffers.as<unsigned char>("obstacle");
  for (int c = 0; c < cells; ++c) {
    const int x = c % width, y = c / width % height, z = c / width / height;
    std::array<double, 19> f{};
    for (int i = 0; i < 19; ++i) {
      const int source_x = (x - directions[i].x + width) % width;
      const int source_y = (y - directions[i].y + height) % height;
      const int source_z = (z - directions[i].z + depth) % depth;
      f[i] = from[i * cells + (source_z * height + source_y) * width + source_x];
    }
    const auto result = obstacle[c] != 0 ? bounce(f) : collide(f, parameters.at("omega"));
    for (int i = 0; i < 19; ++i) to[i * cells + c] = static_cast<float>(result[i]);
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto density = buffers.as<float>("density");
  const auto noise = buffers.as<unsigned char>("noise");
  const auto obstacle = buffers.as<unsigned char>("obstacle");
  const auto f = buffers.as<float>("f");
  const std::size_t cells = density.size();
  for (std::size_t c = 0; c < cells; ++c) {
    obstacle[c] = noise[c] < 16 ? 1 : 0;
    for (int i = 0; i < 19; ++i) f[i * cells + c] = static_cast<float>(weight(i) * density[c]);
  }
  for (int i = 0; i < integer(parameters, "steps"); ++i) {
    step(parameters, buffers);
    buffers.swap("f", "next");
  }
}

}  // namespace lockstep::reference::lbm
