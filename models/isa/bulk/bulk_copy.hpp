/// Bulk copies: what the instruction means, whoever executes it: the SM's engine, or the
/// interpreter; and the text of mistakes with it.
///
/// A thread names the first byte in global memory, the first one in shared memory of its block, how
/// many bytes there are, and for a load the mbarrier that counts them when they are there.
/// Source: PTX ISA 8.x, "Data Movement and Conversion Instructions: Non-tensor asynchronous copy:
/// cp.async.bulk"; modern-isa.md, section 3.3.
#pragma once

#include <cstdint>
#include <cstring>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/ir.hpp"

namespace lockstep::isa {

struct BulkCopy {
  static constexpr std::uint64_t unit = 16;  ///< addresses and sizes are multiples

  std::uint64_t global = 0, bytes = 0;
  std::uint32_t shared = 0;   ///< in the block's shared memory
  std::uint32_t barrier = 0;  ///< the same, of a load
};

/// Returns a lane's copy.  `places`, `bytes`: rows of source[1] and source[2].
inline BulkCopy bulk_copy_of(std::uint64_t global, const std::uint32_t* places,
                             const std::uint32_t* bytes, unsigned lane) {
  BulkCopy copy;
  copy.global = global;
  copy.shared = places[2 * lane];
  copy.barrier = places[2 * lane + 1];
  std::memcpy(&copy.bytes, bytes + 2 * lane, sizeof copy.bytes);
  return copy;
}

/// Returns what is wrong with a copy by a block that has so much shared memory, apart from what is
/// wrong with its place in global memory.
MbarrierMistake bulk_copy_mistake(ir::BulkCopyStep step, const BulkCopy& copy,
                                  std::uint64_t shared_bytes);

}  // namespace lockstep::isa
