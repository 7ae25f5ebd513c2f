#include "models/host/tenant_directory.hpp"

#include "models/host/remote_memory.hpp"

namespace lockstep {

std::uint64_t TenantDirectory::remote_address(TenantId tenant, BufferId buffer) const {
  return lockstep::remote_address(tenant, buffer);
}

}  // namespace lockstep
