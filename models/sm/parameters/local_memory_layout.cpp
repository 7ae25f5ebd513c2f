#include "models/sm/parameters/local_memory_layout.hpp"

#include "models/isa/types.hpp"

namespace lockstep {

std::uint32_t local_homes(const SmParameters& parameters, std::uint32_t in_memory) {
  return parameters.warps + (in_memory > 0 ? in_memory + parameters.warps : 0);
}

std::uint64_t local_memory_bytes(const SmParameters& parameters, std::uint32_t in_memory) {
  return parameters.local_bytes_per_thread.count() * local_homes(parameters, in_memory) *
         isa::warp_size;
}

}  // namespace lockstep
