/// What machine code says of its kernels: the registers of a thread, as ptxas gave them out.
/// Source: the .nv.info sections that nvcc 9 to 13 write; none of it is documented.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace lockstep::capture {

/// By the kernel's name.  What is not understood says nothing: the map is empty then.
std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const char> elf);

}  // namespace lockstep::capture
