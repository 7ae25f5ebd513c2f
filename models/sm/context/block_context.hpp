#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// Of what a context consists, beside control state.
struct ContextParts {
  std::uint32_t register_bytes = 0;  ///< the first of it
  std::uint32_t shared_bytes = 0;    ///< that follow
  std::uint32_t compressed = 0;      ///< registers that pass the compressor

  template <class Archive>
  void serialize(Archive& archive) {
    archive(register_bytes, shared_bytes, compressed);
  }
};

/// What leaves the SM with a block.
struct BlockContext {
  std::vector<std::byte> bytes;
  ContextParts parts;
};

}  // namespace lockstep
