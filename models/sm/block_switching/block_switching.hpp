/// Choice of the thread blocks that leave an SM because of a fault, to make room for others.
///
/// A policy says which blocks leave, and when.  All policies share the way in which a block leaves
/// and returns: see local_scheduler.hpp.
/// Source: 000, section 4.1.
#pragma once

#include <cstdint>
#include <memory>

#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"
#include "models/sm/parameters/context_kind.hpp"

namespace lockstep {

class BlockSwitching {
 public:
  virtual ~BlockSwitching() = default;
  /// Blocks of an SM that may stand in memory; 0: no block ever leaves.
  virtual std::uint32_t extra_blocks() const { return 0; }
  /// Returns whether a block should leave for a fault that has `position` older pending faults
  /// before it.
  virtual bool worth_leaving(std::uint32_t /*position*/) const { return false; }
  virtual ContextKind context() const { return ContextKind::occupied; }
  /// Returns whether a context moves within a cycle, without traffic.
  virtual bool ideal() const { return false; }
  /// Returns the longest wait of a block in memory that could go on.  After that time it takes the
  /// place of another block.
  virtual Time max_wait() const { return Time::never(); }
};

std::unique_ptr<BlockSwitching> make_block_switching(const PolicyChoice& choice);

using MakeBlockSwitching = std::unique_ptr<BlockSwitching> (*)(const PolicyChoice&);

}  // namespace lockstep
