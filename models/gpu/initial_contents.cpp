#include "models/gpu/initial_contents.hpp"

#include <algorithm>

namespace lockstep {

InitialContents::InitialContents(const std::vector<Tenant>& tenants) : tenants_(&tenants) {
  for (const Tenant& tenant : tenants) made_.emplace_back(tenant.workload.buffers.size());
}

void InitialContents::operator()(std::uint16_t tenant, std::uint32_t number, std::uint64_t offset,
                                 std::span<std::byte> bytes) {
  const Buffer& buffer = (*tenants_)[tenant].workload.buffers[number];
  Made& made = made_[tenant][number];
  if (!made.is_made) made = {true, make_content(buffer)};
  bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), buffer.bytes() - offset));
  if (made.content) {
    made.content->read(offset, bytes);
  } else {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
}

}  // namespace lockstep
