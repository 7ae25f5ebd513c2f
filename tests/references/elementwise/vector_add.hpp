#pragma once

// Reference of the workload vector_add.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::vector_add {

inline void run(const Parameters&, Buffers& buffers) {
  const auto a = buffers.as<float>("a");
  const auto b = buffers.as<float>("b");
  const auto c = buffers.as<float>("c");
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
}

}  // namespace lockstep::reference::vector_add
