/// The bytes behind an IdealMachine: what a request does to them, and the payload of its answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

#include "models/noc/atomic_lanes.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class IdealMemory {
 public:
  explicit IdealMemory(std::size_t size) : bytes(size) {}

  /// Puts the payload of the answer at `out`; its bytes.
  std::size_t serve(const MemoryRequest& request, const std::byte* payload, std::byte* out) {
    std::byte* line = line_at(request.line);
    if (request.operation == MemoryOperation::atomic) {
      modify_lanes(request, payload, {line, line_bytes}, out);
      return (request.flags & flag_returns) ? 8u * request.lanes : 0;
    }
    const unsigned count = request.sector_count();
    unsigned i = 0;
    for (unsigned sector = 0; sector < 4; ++sector) {
      if (!((request.sectors >> sector) & 1)) continue;
      std::byte* at = line + sector * sector_bytes;
      if (request.operation == MemoryOperation::load) {
        std::memcpy(out + sector_bytes * i, at, sector_bytes);
      } else {
        std::uint32_t mask;
        std::memcpy(&mask, payload + 4 * i, 4);
        store(at, payload + 4 * count + sector_bytes * i, mask);
      }
      ++i;
    }
    return request.operation == MemoryOperation::load ? sector_bytes * count : 0;
  }

  std::vector<std::byte> bytes;

 private:
  static void store(std::byte* sector, const std::byte* from, std::uint32_t mask) {
    if (mask == 0xffffffff) {
      std::memcpy(sector, from, sector_bytes);
      return;
    }
    for (unsigned b = 0; b < sector_bytes; ++b)
      if ((mask >> b) & 1) sector[b] = from[b];
  }
  std::byte* line_at(std::uint64_t physical) {
    if (physical + line_bytes <= bytes.size()) return bytes.data() + physical;
    return sparse_[physical].data();
  }

  /// Lines behind the end: of local memory.
  std::map<std::uint64_t, std::array<std::byte, line_bytes>> sparse_;
};

}  // namespace lockstep
