#pragma once

#include <cstdint>

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// The new value at an atomic's address: one function for the interpreter, shared memory, the L2
/// and the host.  Values occupy the low bytes_of(type) bytes.  `a`: the operand (cas: what is
/// compared), `b`: what cas writes.  Floating-point sums are rounded to nearest, subnormals are
/// kept, NaN is canonical.
/// Source: PTX ISA 8.x, section 9.7.13.
///
/// Simplified: hardware flushes subnormals of atom.global.add.f32; here no space does.
std::uint64_t apply(AtomicOperation operation, Type type, std::uint64_t old, std::uint64_t a,
                    std::uint64_t b);

/// Whether PTX has this operation on this type.
bool atomic_exists(AtomicOperation operation, Type type);

}  // namespace lockstep::isa
