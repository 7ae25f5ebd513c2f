#pragma once

// Reference of the workload scalar_product, in double precision.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::scalar_product {

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int elements = integer(parameters, "elements");
  const auto a = buffers.as<float>("a"), b = buffers.as<float>("b");
  for (int pair = 0; pair < integer(parameters, "pairs"); ++pair) {
    double sum = 0;
    for (int i = pair * elements; i < (pair + 1) * elements; ++i) sum += double{a[i]} * b[i];
    buffers.as<float>("product")[pair] = static_cast<float>(sum);
  }
}

}  // namespace lockstep::reference::scalar_product
