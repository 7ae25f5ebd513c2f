#pragma once

#include <cstdint>
#include <string>

namespace lockstep::isa {

/// Returns the mistake in the destination of an asynchronous copy, in the words of both machines.
inline std::string copy_target_mistake(std::uint32_t address, unsigned bytes,
                                       std::uint64_t shared_bytes) {
  const std::string what = "asynchronous copy of " + std::to_string(bytes) +
                           " bytes to shared address " + std::to_string(address);
  return address % bytes != 0
             ? what + ", which is not aligned to them"
             : what + ", outside of the block's " + std::to_string(shared_bytes) + " bytes";
}
inline constexpr const char* copy_target_advice =
    "check the index, the declaration's alignment and the launch's `shared:`";

}  // namespace lockstep::isa
