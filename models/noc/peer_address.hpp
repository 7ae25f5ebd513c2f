#pragma once

#include <cstdint>

namespace lockstep {

/// Addresses of memory of other GPUs, as entries of page tables and requests of SMs carry them: the
/// highest bit, the number of the GPU, the physical address there.
///
/// Entries of host memory (remote_memory.hpp) do not use the highest bit: a scenario has at most
/// 256 tenants.
inline constexpr std::uint64_t peer_bit = std::uint64_t{1} << 63;
inline constexpr unsigned peer_gpu_shift = 48;

constexpr std::uint64_t peer_address(std::uint32_t gpu, std::uint64_t physical) {
  return peer_bit | std::uint64_t{gpu} << peer_gpu_shift | physical;
}
constexpr bool is_peer_address(std::uint64_t address) {
  return (address & peer_bit) != 0;
}
constexpr std::uint32_t gpu_of_peer_address(std::uint64_t address) {
  return static_cast<std::uint32_t>((address & ~peer_bit) >> peer_gpu_shift);
}
constexpr std::uint64_t physical_of_peer_address(std::uint64_t address) {
  return address & ((std::uint64_t{1} << peer_gpu_shift) - 1);
}

}  // namespace lockstep
