#pragma once

// Reference of the workload chirp: sine and cosine in double precision, rounded once; the library
// code in the kernel is within two units in the last place of that.

#include <cmath>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::chirp {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const float rate = real(parameters, "rate");
  const auto in_phase = buffers.as<float>("in_phase");
  const auto quadrature = buffers.as<float>("quadrature");
  for (int i = 0; i < integer(parameters, "n"); ++i) {
    const double phase = rate * static_cast<float>(i * i);
    in_phase[i] = static_cast<float>(std::cos(phase));
    quadrature[i] = static_cast<float>(std::sin(phase));
  }
}

}  // namespace lockstep::reference::chirp
