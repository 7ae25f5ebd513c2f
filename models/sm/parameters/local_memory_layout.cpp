#include "models/sm/parameters/local_memory_layout.hpp"

#include "models/isa/types.hpp"

namespace lockstep {

std::uint64_t local_memory_bytes(const SmParameters& parameters, std::uint32_t more) {
  return parameters.local_bytes_per_thread.count() * (parameters.warps + more) * isa::warp_size;
}

}  // namespace lockstep
