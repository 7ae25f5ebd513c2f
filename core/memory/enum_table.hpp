#pragma once

#include <array>
#include <cstddef>

namespace lockstep {

/// A value for each enumerator of an enumeration that ends in `count`.
template <class Enumeration, class Value>
struct EnumTable {
  std::array<Value, static_cast<std::size_t>(Enumeration::count)> values{};

  constexpr Value& operator[](Enumeration which) { return values[static_cast<std::size_t>(which)]; }
  constexpr const Value& operator[](Enumeration which) const {
    return values[static_cast<std::size_t>(which)];
  }
};

}  // namespace lockstep
