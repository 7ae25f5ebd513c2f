#pragma once

#include <cstdint>
#include <string>

#include "models/noc/ids.hpp"

namespace lockstep {

/// Answers of the host to the driver about tenants and their buffers.
class BufferDirectory {
 public:
  /// Description of a buffer for messages.
  struct Description {
    std::string where;  ///< file:line:column
    std::string name;   ///< name of the buffer and its tenant
  };

  virtual ~BufferDirectory() = default;
  /// Returns whether the host has content for a page (counted in the buffer), so that the page has
  /// to be moved.
  virtual bool has_data(TenantId tenant, BufferId buffer, std::uint64_t page) const = 0;
  virtual std::uint64_t bytes(TenantId tenant, BufferId buffer) const = 0;
  virtual Description describe(TenantId tenant, BufferId buffer) const = 0;
  /// Returns the address at which a buffer begins in requests of the GPU to host memory.
  virtual std::uint64_t remote_address(TenantId tenant, BufferId buffer) const = 0;
  /// Returns whether the tenant is ending: its memory will become free, and it needs none.
  virtual bool is_leaving(TenantId tenant) const = 0;
};

}  // namespace lockstep
