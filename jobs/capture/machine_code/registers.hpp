/// Registers of a thread, as ptxas allocated them in the machine code of its kernel.
/// Source: the .nv.info sections that nvcc 9 to 13 write; none of it is documented.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace lockstep::capture {

/// Returns the registers by the kernel's name; empty where the machine code is not understood.
std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const char> elf);

}  // namespace lockstep::capture
