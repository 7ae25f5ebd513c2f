/// Registers of a thread by the machine code of its kernel, as ptxas gave them out.
/// Source: the .nv.info sections that nvcc 9 to 13 write; none of it is documented.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace lockstep::capture {

/// Registers by the kernel's name.  The map is empty where the machine code is not understood.
std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const char> elf);

}  // namespace lockstep::capture
