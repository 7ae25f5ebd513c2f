#pragma once

// Reference of the workloads barnes_hut and barnes_hut_warps: cells summed directly from the
// bodies, forces in double precision by recursion.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::barnes_hut {

inline constexpr float scale = 1048576.0f;

inline int cell_number(int level, int row, int column) {
  return ((1 << (2 * level)) - 1) / 3 + (row << level) + column;
}

/// Adds every body to its cell of every level.
inline void sum_cells(int levels, Buffers& buffers) {
  const auto x = buffers.as<float>("x"), y = buffers.as<float>("y");
  const auto mass = buffers.as<float>("mass");
  const auto sum = buffers.as<std::int64_t>("sum");
  const auto leaf = [&](float at) {
    const int cells = 1 << levels;
    return std::clamp(static_cast<int>(at * static_cast<float>(cells)), 0, cells - 1);
  };
  for (std::size_t i = 0; i < mass.size(); ++i) {
    for (int level = 0; level <= levels; ++level) {
      const int up = levels - level;
      const int cell = cell_number(level, leaf(y[i]) >> up, leaf(x[i]) >> up);
      sum[3 * cell] += std::llrint(mass[i] * scale);
      sum[3 * cell + 1] += std::llrint(mass[i] * x[i] * scale);
      sum[3 * cell + 2] += std::llrint(mass[i] * y[i] * scale);
    }
  }
}

inline void find_centres(Buffers& buffers) {
  const auto sum = buffers.as<std::int64_t>("sum");
  const auto cell = buffers.as<float>("cell");
  for (std::size_t i = 0; i < sum.size() / 3; ++i) {
    const float mass = static_cast<float>(sum[3 * i]);
    const float divisor = std::max(mass, 1.0f);
    cell[4 * i] = static_cast<float>(sum[3 * i + 1]) / divisor;
    cell[4 * i + 1] = static_cast<float>(sum[3 * i + 2]) / divisor;
    cell[4 * i + 2] = mass / scale;
  }
}

struct Body {
  float x, y;
  double force_x = 0, force_y = 0;

  float squared_distance(const float* cell) const {
    const float dx = cell[0] - x, dy = cell[1] - y;
    return std::fma(dx, dx, dy * dy);
  }
  void pull(const float* cell) {
    const double softened = squared_distance(cell) + 1e-4f;
    const double strength = cell[2] / (softened * std::sqrt(softened));
    force_x += strength * (cell[0] - x);
    force_y += strength * (cell[1] - y);
  }
};

/// What bodies see that open a cell if one of them is too near.
struct Walk {
  std::span<const float> cell;
  int levels;
  float openness;
  std::vector<Body> bodies;
  unsigned visits = 0;

  void visit(int level, int row, int column) {
    const float* c = &cell[4 * cell_number(level, row, column)];
    ++visits;
    if (c[2] == 0.0f) return;
    const float size = 1.0f / static_cast<float>(1 << level);
    const bool closed = std::all_of(bodies.begin(), bodies.end(), [&](const Body& body) {
      return level == levels || body.squared_distance(c) >= openness * (size * size);
    });
    if (closed) {
      for (Body& body : bodies) body.pull(c);
      return;
    }
    for (int child = 0; child < 4; ++child) {
      visit(level + 1, 2 * row + child / 2, 2 * column + child % 2);
    }
  }
};

/// So many bodies walk as one.
inline void run_together(int together, const Parameters& parameters, Buffers& buffers) {
  const int levels = integer(parameters, "levels"), bodies = integer(parameters, "bodies");
  sum_cells(levels, buffers);
  find_centres(buffers);
  for (int first = 0; first < bodies; first += together) {
    Walk walk{buffers.as<float>("cell"), levels, real(parameters, "openness"), {}};
    for (int i = first; i < std::min(first + together, bodies); ++i)
      walk.bodies.push_back({buffers.as<float>("x")[i], buffers.as<float>("y")[i]});
    walk.visit(0, 0, 0);
    int i = first;
    for (const Body& body : walk.bodies) {
      buffers.as<float>("force")[2 * i] = static_cast<float>(body.force_x);
      buffers.as<float>("force")[2 * i + 1] = static_cast<float>(body.force_y);
      buffers.as<unsigned>("visited")[i++] = walk.visits;
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  run_together(1, parameters, buffers);
}
inline void run_by_warps(const Parameters& parameters, Buffers& buffers) {
  run_together(32, parameters, buffers);
}

}  // namespace lockstep::reference::barnes_hut
