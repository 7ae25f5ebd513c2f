#pragma once

#include <cstdint>

#include "core/parameters/limits.hpp"

namespace lockstep {

/// Check by which the SM finds out that a block overwrites what it has read.
enum class IdempotenceCheck : std::uint8_t {
  marks,  ///< the check follows the block's code and the buffers of the launch
  words,  ///< the check follows the words that the block has read
};

/// Returns the choices of the parameter `idempotence`.
inline Choice idempotence_checks() {
  return choice({"static", "exact"});
}
inline constexpr const char* idempotence_check_doc =
    "when a block can no longer be flushed: after its first store through a parameter whose buffer "
    "its kernel reads (003, section 4.1); or after its first store to a word that it has read, or "
    "its first release, after which others may rely on its reads";

}  // namespace lockstep
