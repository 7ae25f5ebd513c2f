#include "models/driver/mapping/memory_access.hpp"

#include <array>
#include <cstring>

#include "models/host_link/host_link.hpp"

namespace lockstep {
namespace {

constexpr unsigned sectors_per_line = line_bytes / sector_bytes;
constexpr std::size_t entries_per_sector = sector_bytes / sizeof(std::uint64_t);

MemoryRequest request_of(PhysicalAddress line, TenantId tenant, RequestOwner owner) {
  MemoryRequest request;
  request.line = line.value();
  request.tag = owner.bits();
  request.source = SourceKind::host;
  request.tenant = tenant.value();
  return request;
}

}  // namespace

void send_table_write(const TableWrite& write, TenantId tenant, RequestOwner owner,
                      const HostCycle& cycle) {
  MemoryRequest request = request_of(PhysicalAddress{write.line}, tenant, owner);
  request.operation = MemoryOperation::store;
  std::array<std::uint32_t, sectors_per_line> masks{};
  for (unsigned i = 0; i < write.entries.size(); ++i) {
    if (!(write.mask >> i & 1)) continue;
    request.sectors |= static_cast<std::uint8_t>(1u << (i / entries_per_sector));
    masks[i / entries_per_sector] |= 0xffu << (i % entries_per_sector * sizeof(std::uint64_t));
  }
  std::array<std::byte, sectors_per_line*(4 + sector_bytes)> payload;
  const unsigned count = request.sector_count();
  for (unsigned sector = 0, n = 0; sector < sectors_per_line; ++sector) {
    if (!(request.sectors >> sector & 1)) continue;
    std::memcpy(payload.data() + 4 * n, &masks[sector], 4);
    std::memcpy(payload.data() + 4 * count + sector_bytes * n,
                &write.entries[sector * entries_per_sector], sector_bytes);
    ++n;
  }
  cycle.link.send_request(request, {payload.data(), (4 + sector_bytes) * count}, cycle.now,
                          cycle.outbox);
}

std::uint64_t send_zero_ranges(std::span<const FrameRun> frames, std::uint32_t partitions,
                               const HostCycle& cycle) {
  for (const FrameRun& run : frames)
    for (std::uint32_t p = 0; p < partitions; ++p)
      cycle.link.send_range(PartitionId{static_cast<std::uint16_t>(p)}, cycle.now,
                            MessageKind::zero_range, {run.physical, run.bytes}, cycle.outbox);
  return frames.size() * partitions;
}

}  // namespace lockstep
