#pragma once

#include <cstdint>

namespace lockstep {

constexpr std::int64_t femtoseconds_per_nanosecond = 1'000'000;
constexpr double femtoseconds_per_microsecond = 1e9, femtoseconds_per_second = 1e15;

}  // namespace lockstep
