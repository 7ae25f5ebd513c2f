#include "models/isa/atomic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/barriers/mbarrier.hpp"

namespace lockstep::isa {
namespace {

/// A 16-bit floating-point format.
struct Format {
  int mantissa_bits, exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Format half{10, 5}, brain{7, 8};

double widen(std::uint64_t bits, Format f) {
  const std::uint64_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << f.exponent_bits) - 1) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  const double significand =
      static_cast<double>(mantissa) + (exponent != 0 ? std::ldexp(1.0, f.mantissa_bits) : 0.0);
  return sign * std::ldexp(significand, std::max(exponent, 1) - f.bias() - f.mantissa_bits);
}

/// Rounds to nearest, ties to even. The sum of two such numbers in double is precise enough for
/// that.
std::uint64_t narrow(double value, Format f) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int least = 1 - f.bias() - f.mantissa_bits;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1 - f.mantissa_bits, least);
  const std::uint64_t infinity = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  if (std::isinf(magnitude)) return sign | infinity;
  const double scaled = std::ldexp(magnitude, -unit);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0.0)) whole += 1.0;
  // Carries of the mantissa run into the exponent as they should.
  const std::uint64_t bits = (static_cast<std::uint64_t>(unit - least) << f.mantissa_bits) +
                             static_cast<std::uint64_t>(whole);
  return sign | std::min(bits, infinity);
}

std::uint64_t add_half(std::uint64_t x, std::uint64_t y, Format f) {
  return narrow(widen(x & 0xffff, f) + widen(y & 0xffff, f), f);
}

std::uint64_t add_pair(std::uint64_t x, std::uint64_t y, Format f) {
  return add_half(x, y, f) | add_half(x >> 16, y >> 16, f) << 16;
}

std::uint64_t add(Type type, std::uint64_t x, std::uint64_t y) {
  switch (type) {
    case Type::f16:
      return add_half(x, y, half);
    case Type::bf16:
      return add_half(x, y, brain);
    case Type::f16x2:
      return add_pair(x, y, half);
    case Type::bf16x2:
      return add_pair(x, y, brain);
    case Type::f32: {
      const float sum = std::bit_cast<float>(static_cast<std::uint32_t>(x)) +
                        std::bit_cast<float>(static_cast<std::uint32_t>(y));
      return std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
    }
    case Type::f64: {
      const double sum = std::bit_cast<double>(x) + std::bit_cast<double>(y);
      return std::isnan(sum) ? 0x7fffffff'ffffffff : std::bit_cast<std::uint64_t>(sum);
    }
    default:
      return x + y;
  }
}

/// Returns the lesser or greater of two halves; a number rather than NaN, -0 before +0.
std::uint64_t extreme_half(std::uint64_t x, std::uint64_t y, Format f, bool greater) {
  x &= 0xffff;
  y &= 0xffff;
  const double a = widen(x, f), b = widen(y, f);
  if (std::isnan(a)) return std::isnan(b) ? 0x7fff : y;
  if (std::isnan(b)) return x;
  if (a == b) return greater ? x & y : x | y;
  return (a < b) != greater ? x : y;
}

/// Returns the minimum or maximum of floating-point values.
std::uint64_t extreme(Type type, std::uint64_t x, std::uint64_t y, bool greater) {
  const bool is_brain = type == Type::bf16 || type == Type::bf16x2;
  const Format f = is_brain ? brain : half;
  const std::uint64_t low = extreme_half(x, y, f, greater);
  return bytes_of(type) == 2 ? low : low | extreme_half(x >> 16, y >> 16, f, greater) << 16;
}

bool less(Type type, std::uint64_t x, std::uint64_t y) {
  switch (type) {
    case Type::s32:
      return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    case Type::s64:
      return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    default:
      return x < y;
  }
}

}  // namespace

double float_value(Type type, std::uint64_t bits) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return widen(bits & 0xffff, half);
    case Type::bf16:
    case Type::bf16x2:
      return widen(bits & 0xffff, brain);
    case Type::f64:
      return std::bit_cast<double>(bits);
    default:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

std::uint64_t apply(AtomicOperation operation, Type type, std::uint64_t old, std::uint64_t a,
                    std::uint64_t b) {
  const unsigned bits = 8 * bytes_of(type);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  old &= mask;
  a &= mask;
  switch (operation) {
    case AtomicOperation::logical_and:
      return old & a;
    case AtomicOperation::logical_or:
      return old | a;
    case AtomicOperation::logical_xor:
      return old ^ a;
    case AtomicOperation::cas:
      return old == a ? b & mask : old;
    case AtomicOperation::exch:
      return a;
    case AtomicOperation::add:
      return add(type, old, a) & mask;
    case AtomicOperation::inc:
      return old >= a ? 0 : old + 1;
    case AtomicOperation::dec:
      return old == 0 || old > a ? a : old - 1;
    case AtomicOperation::min:
      if (is_float(type)) return extreme(type, old, a, false);
      return less(type, a, old) ? a : old;
    case AtomicOperation::max:
      if (is_float(type)) return extreme(type, old, a, true);
      return less(type, old, a) ? a : old;
    case AtomicOperation::none:
      break;
    default:
      return mbarrier_step(operation, old, a);
  }
  LOCKSTEP_CHECK(false, "atomic without an operation");
}

/// Does what modify() does for a single value of this size.
template <class Value>
static void modify_one(const AtomicShape& shape, std::byte* place, const AtomicWord& operands,
                       std::uint64_t* old) {
  Value value;
  std::memcpy(&value, place, sizeof value);
  *old = value;
  value = static_cast<Value>(apply(shape.operation, shape.type, value, operands.a, operands.b));
  std::memcpy(place, &value, sizeof value);
}

void modify(const AtomicShape& shape, std::byte* place, const AtomicWord* operands,
            std::uint64_t* old) {
  const unsigned bytes = bytes_of(shape.type);
  if (shape.bytes() == bytes) {
    if (bytes == 4) return modify_one<std::uint32_t>(shape, place, *operands, old);
    if (bytes == 8) return modify_one<std::uint64_t>(shape, place, *operands, old);
  }
  const unsigned words = shape.words(), word_bytes = shape.bytes() / words;
  for (unsigned w = 0; w < words; ++w) {
    old[w] = 0;
    std::memcpy(&old[w], place + 8 * w, word_bytes);
  }
  if (shape.operation == AtomicOperation::cas && words == 2) {
    const bool equal = old[0] == operands[0].a && old[1] == operands[1].a;
    for (unsigned w = 0; w < 2 && equal; ++w) std::memcpy(place + 8 * w, &operands[w].b, 8);
    return;
  }
  for (unsigned w = 0; w < words; ++w) {
    for (unsigned at = 0; at < word_bytes; at += bytes) {
      const std::uint64_t value = apply(shape.operation, shape.type, old[w] >> 8 * at,
                                        operands[w].a >> 8 * at, operands[w].b >> 8 * at);
      std::memcpy(place + 8 * w + at, &value, bytes);
    }
  }
}

namespace {

bool vector_exists(const AtomicShape& shape) {
  const bool arithmetic = shape.operation == AtomicOperation::min ||
                          shape.operation == AtomicOperation::max ||
                          shape.operation == AtomicOperation::add;
  switch (shape.type) {
    case Type::b64:  // .b128
      return shape.operation == AtomicOperation::exch || shape.operation == AtomicOperation::cas;
    case Type::f32:
      return shape.operation == AtomicOperation::add && shape.bytes() <= 16;
    case Type::f16:
    case Type::bf16:
    case Type::f16x2:
    case Type::bf16x2:
      return arithmetic && shape.bytes() <= 16;
    default:
      return false;
  }
}

}  // namespace

bool atomic_exists(const AtomicShape& shape) {
  if (shape.elements != 1) return vector_exists(shape);
  const Type type = shape.type;
  const unsigned bytes = bytes_of(type);
  const bool integer = !is_float(type);
  switch (shape.operation) {
    case AtomicOperation::logical_and:
    case AtomicOperation::logical_or:
    case AtomicOperation::logical_xor:
    case AtomicOperation::min:
    case AtomicOperation::max:
      return integer && bytes >= 4;
    case AtomicOperation::cas:
    case AtomicOperation::exch:
      return bytes >= (shape.operation == AtomicOperation::cas ? 2u : 4u);
    case AtomicOperation::add:
      return bytes >= 4 || type == Type::f16 || type == Type::bf16;
    case AtomicOperation::inc:
    case AtomicOperation::dec:
      return integer && bytes == 4;
    case AtomicOperation::none:
      return false;
    default:
      return type == Type::b64;
  }
}

}  // namespace lockstep::isa
