#pragma once

#include <cstddef>
#include <vector>

#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// Part of a block's context that stays on chip while the rest is in memory.
struct KeptContext {
  std::vector<std::byte> registers, shared;  ///< bytes of each kind; empty: none stay
  /// Registers and bytes of shared memory of the SM that the kept part takes.
  std::uint32_t register_count = 0, shared_bytes = 0;

  bool empty() const { return register_count + shared_bytes == 0; }
  /// Joins the part that stayed on chip with the part that has come back from memory.  `parts`:
  /// sizes of the part in memory.  Returns the whole context.
  std::vector<std::byte> with(const std::vector<std::byte>& moved,
                              const ContextParts& parts) const {
    const auto behind_registers = moved.begin() + parts.register_bytes;
    const auto behind_shared = behind_registers + parts.shared_bytes;
    std::vector<std::byte> whole = registers;
    whole.insert(whole.end(), moved.begin(), behind_registers);
    whole.insert(whole.end(), shared.begin(), shared.end());
    whole.insert(whole.end(), behind_registers, behind_shared);
    whole.insert(whole.end(), behind_shared, moved.end());
    return whole;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(registers, shared, register_count, shared_bytes);
  }
};

/// Context that leaves the SM with a block.
struct BlockContext {
  std::vector<std::byte> bytes;
  ContextParts parts;
  KeptContext kept{};  ///< part that stays on chip
};

}  // namespace lockstep
