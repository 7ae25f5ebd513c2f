/// PTX from the fat binaries that nvcc puts into executables.
///
/// A container has a header and entries, each with a header of its own: PTX text or machine code of
/// one architecture, plain or compressed with LZ4 or Zstandard.
/// Source: the containers themselves, as nvcc 9 to 13 write them; none of it is documented.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::capture {

struct FatBinary {
  struct Ptx {
    std::uint32_t architecture = 0;  ///< 75 for sm_75
    std::string text;
  };
  /// Machine code as it stands in the container.
  struct MachineCode {
    std::uint32_t architecture = 0;
    std::uint64_t flags = 0, unpacked_bytes = 0;
    std::uint32_t packed_bytes = 0;
    std::vector<char> payload;
  };
  std::vector<Ptx> ptx;
  std::vector<MachineCode> machine_code;
};

/// Returns the registers of a kernel's thread in the machine code for this architecture, or for the
/// nearest one. Returns nothing without such code, or if the code does not name them.
std::optional<std::uint32_t> machine_registers(const FatBinary& binary, std::uint32_t architecture,
                                               const std::string& kernel);

/// Reads consecutive containers.  `name`: their name in errors.  Throws UserError for other data
/// than fat binaries.
std::vector<FatBinary> read_fat_binaries(std::span<const char> containers, const std::string& name);

/// Returns whether the bytes are PTX text, as programs load it at run time; its target is its
/// architecture.
bool is_ptx(std::span<const char> bytes);
FatBinary ptx_alone(std::span<const char> text);

/// Returns the PTX that a driver would take for a GPU of this architecture: the newest one that is
/// not newer than the GPU, otherwise the oldest.  Throws UserError when there is only machine code.
const FatBinary::Ptx& best_ptx(const FatBinary& binary, std::uint32_t architecture,
                               const std::string& name);

}  // namespace lockstep::capture
