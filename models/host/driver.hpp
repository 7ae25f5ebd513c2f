/// The GPU driver's memory manager: gives buffers addresses and frames.
///
/// Each tenant has its own address space that starts at `isa::first_global_address`; every buffer
/// gets whole pages with an unmapped guard page behind it, so that running past the end faults.
/// Frames given back are zeroed by the partitions before they are used again.
/// Source: architecture.md, section 8, rules 10 and 11.
///
/// Simplified: physically contiguous ranges, mapped when allocated; demand paging comes with the
/// page manager.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"
#include "models/vm/frame_allocator.hpp"

namespace lockstep {

class HostLink;
class Outbox;

class Driver {
 public:
  Driver(std::uint64_t capacity, std::uint32_t partitions, std::size_t tenants)
      : frames_(capacity),
        partitions_(partitions),
        next_address_(tenants, isa::first_global_address) {}

  /// Addresses and frames for `bytes`.  Throws UserError at `where` when GPU memory is too small.
  Extent map(std::uint16_t tenant, std::uint64_t bytes, const std::string& where,
             const std::string& what);
  /// Addresses for host memory that the GPU reaches over the link; `host_address` is what its
  /// requests carry.
  Extent map_host(std::uint16_t tenant, std::uint64_t bytes, std::uint64_t host_address);
  void unmap(const Extent& extent, Time now, HostLink& link, Outbox& outbox);

  void zero_done(const ZeroRange& range);
  /// No range is being zeroed; until then map() may fail for lack of memory that is on its way.
  bool settled() const { return zeroing_.empty(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(frames_, next_address_, zeroing_);
  }

 private:
  struct Zeroing {
    std::uint64_t base = 0, bytes = 0;
    std::uint32_t answers_missing = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(base, bytes, answers_missing);
    }
  };

  std::uint64_t take_addresses(std::uint16_t tenant, std::uint64_t bytes);

  FrameAllocator frames_;
  const std::uint32_t partitions_;
  std::vector<std::uint64_t> next_address_;  ///< by tenant
  std::vector<Zeroing> zeroing_;
};

}  // namespace lockstep
