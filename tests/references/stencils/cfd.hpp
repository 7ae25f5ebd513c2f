#pragma once

// Reference of the workload cfd, in double precision: the kernels' single precision is near it.

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::cfd {

using Vector = std::array<double, 3>;
using Quantities = std::array<double, 5>;  ///< density, momentum, energy

inline double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The state of a gas and what follows from it.
struct State {
  explicit State(const Quantities& quantities) : q(quantities) {
    for (int axis = 0; axis < 3; ++axis) velocity[axis] = q[axis + 1] / q[0];
    pressure = 0.4 * (q[4] - 0.5 * q[0] * dot(velocity, velocity));
    signal = std::sqrt(dot(velocity, velocity)) + std::sqrt(1.4 * pressure / q[0]);
  }

  /// What passes through a face.
  Quantities through(const Vector& normal) const {
    const double across = dot(velocity, normal);
    Quantities flux;
    for (int i = 0; i < 5; ++i) flux[i] = q[i] * across;
    for (int axis = 0; axis < 3; ++axis) flux[axis + 1] += pressure * normal[axis];
    flux[4] += pressure * across;
    return flux;
  }

  Quantities q;
  Vector velocity;
  double pressure, signal;
};

class Grid {
 public:
  Grid(const Parameters& parameters, Buffers& buffers)
      : cells_(integer(parameters, "cells")),
        noise_(buffers.as<float>("noise")),
        area_(buffers.as<float>("area")),
        neighbour_(buffers.as<int>("neighbour")),
        normal_(buffers.as<float>("normal")),
        quantity_(buffers.as<float>("quantity")),
        old_(buffers.as<float>("old")),
        factor_(buffers.as<float>("factor")),
        flux_(buffers.as<float>("flux")) {}

  void start() {
    for (int i = 0; i < 5 * cells_; ++i) {
      const double far = far_field_[i / cells_];
      quantity_[i] = static_cast<float>(far != 0 ? far * (1 + double{noise_[i]}) : noise_[i]);
    }
  }

  void iterate() {
    std::copy(quantity_.begin(), quantity_.end(), old_.begin());
    for (int cell = 0; cell < cells_; ++cell) {
      const double step = 0.5 / (std::sqrt(double{area_[cell]}) * state(cell).signal);
      factor_[cell] = static_cast<float>(step);
    }
    for (int stage = 0; stage < 3; ++stage) {
      for (int cell = 0; cell < cells_; ++cell) sum_faces(cell);
      for (int i = 0; i < 5 * cells_; ++i) {
        const double step = factor_[i % cells_] / (3.0 - stage);
        quantity_[i] = static_cast<float>(old_[i] + step * flux_[i]);
      }
    }
  }

 private:
  State state(int cell) const {
    Quantities q;
    for (int i = 0; i < 5; ++i) q[i] = quantity_[i * cells_ + cell];
    return State(q);
  }

  void sum_faces(int cell) {
    const State own = state(cell);
    Quantities sum{};
    for (int face = 0; face < 4; ++face) {
      const int next = neighbour_[face * cells_ + cell];
      Vector normal;
      for (int axis = 0; axis < 3; ++axis) {
        normal[axis] = normal_[(3 * face + axis) * cells_ + cell];
      }
      if (next < 0 && next % 2 != 0) {  // a wall
        for (int axis = 0; axis < 3; ++axis) sum[axis + 1] += own.pressure * normal[axis];
        continue;
      }
      const State other = next < 0 ? State(far_field_) : state(next);
      const double damping = 0.1 * std::sqrt(dot(normal, normal)) * (own.signal + other.signal);
      const Quantities out = own.through(normal), in = other.through(normal);
      for (int i = 0; i < 5; ++i) {
        sum[i] += 0.5 * (out[i] + in[i]) - damping * (own.q[i] - other.q[i]);
      }
    }
    for (int i = 0; i < 5; ++i) flux_[i * cells_ + cell] = static_cast<float>(sum[i]);
  }

  static constexpr Quantities far_field_{1.4, 1.68, 0, 0, 3.508};
  int cells_;
  std::span<const float> noise_, area_;
  std::span<const int> neighbour_;
  std::span<const float> normal_;
  std::span<float> quantity_, old_, factor_, flux_;
};

inline void run(const Parameters& parameters, Buffers& buffers) {
  Grid grid(parameters, buffers);
  grid.start();
  for (int i = 0; i < integer(parameters, "iterations"); ++i) grid.iterate();
}

}  // namespace lockstep::reference::cfd
