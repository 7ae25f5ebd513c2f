#pragma once

// Reference of the workload cutcp: every lattice point over the bins around its own. The reciprocal
// square root is exact here and approximate in the kernel.

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::cutcp {

struct Atom {
  float x, y, z, charge;
};

inline float potential(std::span<const Atom> atoms, const std::array<int, 3>& point, int bins,
                       float cutoff) {
  const int near = static_cast<int>(std::ceil(cutoff));
  const auto first = [&](int at) { return std::max(at / 8 - near, 0); };
  const auto last = [&](int at) { return std::min(at / 8 + near, bins - 1); };
  const float inverse = 1.0f / (cutoff * cutoff);
  float sum = 0.0f;
  for (int z = first(point[2]); z <= last(point[2]); ++z) {
    for (int y = first(point[1]); y <= last(point[1]); ++y) {
      const int row = (z * bins + y) * bins;
      for (int slot = 8 * (row + first(point[0])); slot < 8 * (row + last(point[0]) + 1); ++slot) {
        const Atom& atom = atoms[slot];
        const float dx = atom.x - point[0] / 8.0f;
        const float dy = atom.y - point[1] / 8.0f;
        const float dz = atom.z - point[2] / 8.0f;
        const float squared = std::fma(dz, dz, std::fma(dx, dx, dy * dy));
        if (atom.charge == 0.0f || squared >= cutoff * cutoff) continue;
        const float fade = std::fma(-squared, inverse, 1.0f);
        sum = std::fma(atom.charge / std::sqrt(squared), fade * fade, sum);
      }
    }
  }
  return sum;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int bins = integer(parameters, "bins");
  const auto atoms = buffers.as<Atom>("atom");
  for (int slot = 0; slot < static_cast<int>(atoms.size()); ++slot) {
    const int bin = slot / 8;
    Atom& atom = atoms[slot];
    atom.x += static_cast<float>(bin % bins);
    atom.y += static_cast<float>(bin / bins % bins);
    atom.z += static_cast<float>(bin / (bins * bins));
    if (std::abs(atom.charge) < 0.25f) atom.charge = 0.0f;
  }
  std::size_t i = 0;
  for (int z = 0; z < 8 * bins; ++z) {
    for (int y = 0; y < 8 * bins; ++y) {
      for (int x = 0; x < 8 * bins; ++x) {
        buffers.as<float>("potential")[i++] =
            potential(atoms, {x, y, z}, bins, real(parameters, "cutoff"));
      }
    }
  }
}

}  // namespace lockstep::reference::cutcp
