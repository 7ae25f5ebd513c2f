#include "core/engine/opened_buffers.hpp"

#include <algorithm>

namespace lockstep {

OpenedBuffers::OpenedBuffers(std::size_t most) {
  const std::size_t bytes = sizeof(Head) + most * sizeof(OpenedBuffer);
  const std::size_t blocks = (bytes + sharing_bytes - 1) / sharing_bytes;
  memory_.reset(static_cast<std::byte*>(
      ::operator new (blocks* sharing_bytes, std::align_val_t{sharing_bytes})));
  new (memory_.get()) Head;
}

}  // namespace lockstep
