#include "models/workload/element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lockstep {

namespace {

template <class T>
void put(T value, std::byte* place) {
  std::memcpy(place, &value, sizeof value);
}

template <class T>
T get(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// Rounds to a binary format with `fraction` fraction bits and exponents from `lowest` (of the
/// least normal number) on; exact otherwise, so that the format's own bits can be cut out.
double round_to(double value, int fraction, int lowest) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, lowest) - fraction;
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7fff;
  const double rounded = std::fabs(round_to(value, 10, -14));
  if (rounded > 65504) return sign | 0x7c00;
  if (rounded < 0x1p-14) return sign | static_cast<std::uint16_t>(std::ldexp(rounded, 24));
  int exponent;
  const double mantissa = std::frexp(rounded, &exponent);
  const auto fraction = static_cast<std::uint16_t>(std::ldexp(mantissa, 11)) & 0x3ff;
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | fraction);
}

double from_half(std::uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t to_bfloat(double value) {
  if (std::isnan(value)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(round_to(value, 7, -126)));
  return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace

void store_element(isa::Type type, double value, std::byte* place) {
  using isa::Type;
  switch (type) {
    case Type::f16:
      return put(to_half(value), place);
    case Type::bf16:
      return put(to_bfloat(value), place);
    case Type::f32:
      return put(static_cast<float>(value), place);
    case Type::f64:
      return put(value, place);
    default:
      break;
  }
  const std::uint64_t bits = integer_bits(value);
  std::memcpy(place, &bits, isa::bytes_of(type));
}

std::uint64_t integer_bits(double value) {
  return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                   : static_cast<std::uint64_t>(value);
}

bool fits(isa::Type type, double value) {
  if (isa::is_float(type)) {
    std::array<std::byte, 8> place;
    store_element(type, value, place.data());
    return std::isfinite(value) == std::isfinite(load_element(type, place.data()));
  }
  const int bits = static_cast<int>(8 * isa::bytes_of(type));
  return value >= -std::ldexp(1.0, bits - 1) && value < std::ldexp(1.0, bits);
}

double load_element(isa::Type type, const std::byte* place) {
  using isa::Type;
  switch (type) {
    case Type::u8:
    case Type::b8:
      return get<std::uint8_t>(place);
    case Type::s8:
      return get<std::int8_t>(place);
    case Type::u16:
    case Type::b16:
      return get<std::uint16_t>(place);
    case Type::s16:
      return get<std::int16_t>(place);
    case Type::u32:
    case Type::b32:
      return get<std::uint32_t>(place);
    case Type::s32:
      return get<std::int32_t>(place);
    case Type::u64:
    case Type::b64:
      return static_cast<double>(get<std::uint64_t>(place));
    case Type::s64:
      return static_cast<double>(get<std::int64_t>(place));
    case Type::f16:
      return from_half(get<std::uint16_t>(place));
    case Type::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(get<std::uint16_t>(place)) << 16);
    case Type::f32:
      return get<float>(place);
    case Type::f64:
      return get<double>(place);
    default:
      return 0;
  }
}

}  // namespace lockstep
