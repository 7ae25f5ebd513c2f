#include "models/isa/bulk/reduction.hpp"

#include <cstring>

#include "models/isa/atomic.hpp"

namespace lockstep::isa {

bool reduction_exists(AtomicOperation operation, Type element) {
  const bool is_half = element == Type::f16 || element == Type::bf16;
  const bool is_wide_float = element == Type::f32 || element == Type::f64;
  const bool is_integer =
      element == Type::u32 || element == Type::s32 || element == Type::u64 || element == Type::s64;
  const bool is_bits = element == Type::b32 || element == Type::b64;
  switch (operation) {
    case AtomicOperation::add:
      return is_integer || is_half || is_wide_float;
    case AtomicOperation::min:
    case AtomicOperation::max:
      return is_integer || is_half;
    case AtomicOperation::inc:
    case AtomicOperation::dec:
      return element == Type::u32;
    case AtomicOperation::logical_and:
    case AtomicOperation::logical_or:
    case AtomicOperation::logical_xor:
      return is_bits || is_integer;
    default:
      return false;
  }
}

Type reduced_type(TensorType type) {
  switch (type) {
    case TensorType::u32:
      return Type::u32;
    case TensorType::s32:
      return Type::s32;
    case TensorType::u64:
      return Type::u64;
    case TensorType::s64:
      return Type::s64;
    case TensorType::f16:
      return Type::f16;
    case TensorType::bf16:
      return Type::bf16;
    case TensorType::f32:
      return Type::f32;
    case TensorType::f64:
      return Type::f64;
    default:
      return Type::none;
  }
}

void reduce(AtomicOperation operation, Type element, std::byte* to, const std::byte* operands,
            std::uint64_t bytes) {
  const AtomicShape shape{operation, element, 1};
  for (std::uint64_t at = 0; at < bytes; at += shape.bytes()) {
    AtomicWord word;
    std::uint64_t old = 0;
    std::memcpy(&word.a, operands + at, shape.bytes());
    modify(shape, to + at, &word, &old);
  }
}

}  // namespace lockstep::isa
