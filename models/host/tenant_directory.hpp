#pragma once

#include <memory>
#include <vector>

#include "models/host/tenant_run.hpp"

namespace lockstep {

/// Answers questions of driver and host link about tenants and their buffers.
class TenantDirectory final : public BufferDirectory {
 public:
  using Runs = std::vector<std::unique_ptr<TenantRun>>;
  explicit TenantDirectory(const Runs& runs) : runs_(runs) {}

  bool has_data(TenantId tenant, BufferId buffer, std::uint64_t page) const override {
    return buffers(tenant).host(buffer).has_data(page);
  }
  std::uint64_t bytes(TenantId tenant, BufferId buffer) const override {
    return buffers(tenant).host(buffer).size();
  }
  Description describe(TenantId tenant, BufferId buffer) const override {
    return buffers(tenant).describe(buffer);
  }
  std::uint64_t remote_address(TenantId tenant, BufferId buffer) const override;
  bool is_leaving(TenantId tenant) const override { return run(tenant).is_leaving(); }

 private:
  TenantRun& run(TenantId tenant) const { return *runs_[tenant.value()]; }
  TenantBuffers& buffers(TenantId tenant) const { return run(tenant).buffers(); }

  const Runs& runs_;
};

}  // namespace lockstep
