/// Place of kernels' instructions, constants and parameters in the simulated memory.
///
/// The code region is a reserved range of physical addresses behind the threads' local memory.  SMs
/// ask L2 and DRAM for its lines as for any others, and the answers take as long.  These lines are
/// never written, and their bytes are not used: programs are decoded once, and constants travel
/// with the first block of a grid (architecture.md, section 8, rule 11).
///
/// The parameters of a launch stand in one of 64 places in turn, as drivers do: L2 may still hold
/// the lines of earlier launches.
///
/// Simplified: modules beyond 256 share addresses with others.
#pragma once

#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/parameters/sm_parameters.hpp"

namespace lockstep {

class CodeRegion {
 public:
  static constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t constant_line_bytes = 64;
  /// Number of lines of instructions that the region has room for.
  static constexpr std::uint64_t most_code_lines = bytes / 2 / line_bytes;

  CodeRegion() = default;
  explicit CodeRegion(PhysicalAddress base) : base_(base) {}

  PhysicalAddress code_line(std::uint32_t number) const { return base_ + number * line_bytes; }
  std::uint32_t number_of_code(PhysicalAddress line) const {
    return static_cast<std::uint32_t>((line - base_) / line_bytes);
  }

  // Lines of constants are numbered in one sequence, for modules and launches.
  static std::uint32_t constant_line(std::uint32_t module, std::uint64_t offset) {
    return static_cast<std::uint32_t>((module % modules * module_bytes + offset % module_bytes) /
                                      constant_line_bytes);
  }
  static std::uint32_t parameter_line(std::uint32_t launch, std::uint64_t offset) {
    return static_cast<std::uint32_t>(
        (modules * module_bytes + launch % launches * launch_bytes + offset % launch_bytes) /
        constant_line_bytes);
  }
  PhysicalAddress constant_address(std::uint32_t number) const {
    return base_ + bytes / 2 + number * constant_line_bytes;
  }
  /// Returns the number of the constant line that an answer with these sectors of `line` brings.
  std::uint32_t number_of_constants(PhysicalAddress line, std::uint8_t sectors) const {
    const std::uint64_t offset = (line - base_) - bytes / 2;
    return static_cast<std::uint32_t>(offset / constant_line_bytes) + (sectors > 3 ? 1 : 0);
  }

 private:
  static constexpr std::uint64_t modules = 256, module_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint64_t launches = 64, launch_bytes = std::uint64_t{1} << 15;
  static_assert(modules * module_bytes + launches * launch_bytes <= bytes / 2);

  PhysicalAddress base_;
};

/// Returns how many bytes of physical addresses the code region takes, for all SMs together.
inline std::uint64_t code_bytes(const SmParameters& parameters) {
  return parameters.fetches() ? CodeRegion::bytes : 0;
}

}  // namespace lockstep
