#pragma once

#include <cstddef>
#include <cstdint>

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Returns the new value at an atomic's address; the interpreter, shared memory, the L2 and the
/// host all use this function.  Values are in the low bytes_of(type) bytes.  `a`: operand (cas: the
/// compared value; mbarrier: a count), `b`: value that cas writes.  Floating-point sums are rounded
/// to nearest, subnormals are kept, NaN is canonical. Source: PTX ISA 8.x, section 9.7.13.
///
/// Simplified: subnormals are kept in every space; hardware flushes those of atom.global.add.f32.
std::uint64_t apply(AtomicOperation operation, Type type, std::uint64_t old, std::uint64_t a,
                    std::uint64_t b);

/// Returns the number that the bits are; the lower one of a pair.
double float_value(Type type, std::uint64_t bits);

/// Applies an atomic to the bytes of one lane: `elements` contiguous values, each an atomic of its
/// own.  Only a compare-and-swap of two b64 is a single atomic of 128 bits.
struct AtomicShape {
  AtomicOperation operation = AtomicOperation::none;
  Type type = Type::none;
  unsigned elements = 1;

  unsigned bytes() const { return bytes_of(type) * elements; }
  unsigned words() const { return bytes() > 8 ? 2 : 1; }  ///< number of 8-byte words
};

/// Operands of a lane's atomic, in 8 bytes: `a`, and for a compare-and-swap `b`, the new value.
struct AtomicWord {
  std::uint64_t a = 0, b = 0;
};

/// Executes a lane's atomic at `place`. `operands` and `old` (the value before) have shape.words()
/// elements.
void modify(const AtomicShape& shape, std::byte* place, const AtomicWord* operands,
            std::uint64_t* old);

/// Returns whether PTX has this atomic. Source: PTX ISA 8.x, "atom", "red".
bool atomic_exists(const AtomicShape& shape);

}  // namespace lockstep::isa
