/// Reductions in bulk: an atomic on global memory for each of many contiguous elements, with
/// operands in shared memory.
/// Source: PTX ISA 8.x, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor".
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/isa/bulk/tensor_map.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Returns whether PTX has the reduction of such elements.
bool reduction_exists(AtomicOperation operation, Type element);
/// Returns the type in which the elements of a tensor are reduced; none: they cannot be reduced.
Type reduced_type(TensorType type);

/// Returns the type of one atomic: a pair of halves where `place`, the bitwise or of an address and
/// a size, is a multiple of the pair's size.
constexpr Type atomic_type(Type element, std::uint64_t place) {
  if (place % 4 != 0) return element;
  return element == Type::f16 ? Type::f16x2 : element == Type::bf16 ? Type::bf16x2 : element;
}

/// Applies this number of bytes of operands.
void reduce(AtomicOperation operation, Type element, std::byte* to, const std::byte* operands,
            std::uint64_t bytes);

}  // namespace lockstep::isa
