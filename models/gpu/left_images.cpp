#include "models/gpu/left_images.hpp"

#include <algorithm>

namespace lockstep {
namespace {

/// Returns the bytes of a managed buffer, each page from its place at the end.
ImageBytes through(const HostBuffer& at_gpu, const HostBuffer& at_host) {
  return {at_host.size(),
          [&](std::uint64_t offset, std::uint64_t bytes) {
            return at_gpu.known(offset, bytes) == Known::zeros ? at_host.known(offset, bytes)
                                                               : Known::nothing;
          },
          [&](std::uint64_t offset, std::span<std::byte> scratch) {
            return at_host.look_through(at_gpu, offset, scratch);
          }};
}

}  // namespace

TenantImages left_images(const Workload& workload, TenantRun& run) {
  TenantImages images;
  TenantBuffers& buffers = run.buffers();
  for (std::uint32_t b = 0; b < workload.buffers.size(); ++b) {
    const HostBuffer& at_host = buffers.left_at_host(BufferId{b});
    BufferImage& image = images.emplace_back();
    image.host = ImageBytes::of(at_host);
    const HostBuffer* const at_gpu = buffers.left_at_gpu(BufferId{b});
    if (at_gpu == nullptr) continue;
    image.device = workload.buffers[b].memory == MemoryKind::managed ? through(*at_gpu, at_host)
                                                                     : ImageBytes::of(*at_gpu);
  }
  return images;
}

}  // namespace lockstep
