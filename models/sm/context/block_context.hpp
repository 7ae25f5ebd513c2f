#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// What leaves the SM with a block.
struct BlockContext {
  std::vector<std::byte> bytes;
  std::uint32_t register_bytes = 0;  ///< the first of them
  std::uint32_t compressed = 0;      ///< registers in these that pass the compressor
};

}  // namespace lockstep
