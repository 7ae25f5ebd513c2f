#pragma once

#include <cstdint>

namespace lockstep {

/// How answers of memory find the part of the driver that asked.  Bit 31 says that it was the
/// driver, not the host link (HostLink::owns).
struct DriverTag {
  enum class Part : std::uint32_t {
    mapping,        ///< entries of a mapping were written
    rearrangement,  ///< entries of a rearrangement were written
  };
  static constexpr std::uint32_t number_bits = 29;

  Part part = Part::mapping;
  std::uint32_t number = 0;

  constexpr std::uint32_t bits() const {
    return 1u << 31 | static_cast<std::uint32_t>(part) << number_bits | number;
  }
  static constexpr DriverTag of(std::uint32_t bits) {
    return {static_cast<Part>(bits >> number_bits & 3u), bits & ((1u << number_bits) - 1)};
  }
};

}  // namespace lockstep
