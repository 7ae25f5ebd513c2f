#pragma once

// Buffers of any element type as doubles.

#include <vector>

#include "models/isa/types.hpp"
#include "models/workload/element.hpp"
#include "tests/references/buffers.hpp"

namespace lockstep::reference {

inline std::vector<double> load_all(Buffers& buffers, const std::string& name, isa::Type type) {
  const std::vector<std::byte>& bytes = buffers.bytes.at(name);
  const std::size_t size = isa::bytes_of(type);
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = load_element(type, bytes.data() + i * size);
  return values;
}
inline void store_all(Buffers& buffers, const std::string& name, isa::Type type,
                      const std::vector<double>& values) {
  const std::size_t size = isa::bytes_of(type);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(type, values[i], buffers.bytes.at(name).data() + i * size);
}
/// To f16, to the nearest.
inline double as_half(double value) {
  std::byte bytes[2];
  store_element(isa::Type::f16, value, bytes);
  return load_element(isa::Type::f16, bytes);
}

}  // namespace lockstep::reference
