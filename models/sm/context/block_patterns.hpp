/// Register compression over a whole thread block: values that form one sequence through all its
/// warps take one or two words in all.
///
/// The compression applies only where all warps stand at the same barrier with the same live
/// registers.  A register that is random in one warp is stored raw in all.  Source: 002, section
/// III.C, Figure 11, with the two rules corrected that preemption.md, section 3.3, names: local
/// uniform is a base vector that is not uniform; the bases of a global stride step by stride times
/// group.
///
/// Simplified: a register with more bases than the buffer of 32 holds is local.
#pragma once

#include <cstdint>
#include <span>

#include "models/sm/context/register_compressor.hpp"

namespace lockstep {

enum class BlockRegisterClass : std::uint8_t {
  dead,
  random,
  local_uniform,   ///< one word of each group
  local_strided,   ///< two words of each group
  global_uniform,  ///< one word of the block
  global_strided,  ///< two words of the block
};

inline constexpr std::size_t block_register_classes = 6;

/// `warps`: the register's patterns in the block's warps, in order.
BlockRegisterClass block_class_of(std::span<const RegisterPattern> warps, unsigned group_lanes);

}  // namespace lockstep
