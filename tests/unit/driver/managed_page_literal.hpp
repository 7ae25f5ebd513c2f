#pragma once

#include "models/driver/residency.hpp"

namespace lockstep {

constexpr ManagedPage operator""_page(unsigned long long number) {
  return ManagedPage{number};
}

}  // namespace lockstep
