#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/checkpoint/archive.hpp"

namespace lockstep {

/// A line that a core asks its memory for, or writes.
struct CpuAccess {
  std::int64_t instruction = 0;  ///< instruction that misses, or for which a line leaves the cache
  std::uint64_t offset = 0;      ///< offset of the line in the tenant's memory
  bool write = false;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(instruction, offset, write);
  }
};

/// Accesses of a tenant's program, one after the other, in the order of its instructions.
class AccessStream {
 public:
  virtual ~AccessStream() = default;
  /// Returns the next access; nothing when the program has ended.
  virtual std::optional<CpuAccess> next() = 0;
  virtual void serialize(Archive& archive) = 0;
};

}  // namespace lockstep
