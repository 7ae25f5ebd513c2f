#include "models/host/remote_memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/message/message.hpp"
#include "models/noc/atomic_lanes.hpp"

namespace lockstep {

namespace {

/// Returns the bytes of a line that the buffer has; its last line may be shorter.
std::span<std::byte> line_of(const MemoryRequest& request, HostBuffer& buffer) {
  const std::uint64_t offset = remote_offset(request.line);
  if (offset >= buffer.size()) return {};
  return buffer.at(offset, std::min<std::uint64_t>(line_bytes, buffer.size() - offset));
}

void store(const MemoryRequest& request, const std::byte* payload, std::span<std::byte> line) {
  const std::byte* data = payload + 4 * request.sector_count();
  for (unsigned s = 0, i = 0; s < line_bytes / sector_bytes; ++s) {
    if (!(request.sectors >> s & 1)) continue;
    std::uint32_t mask;
    std::memcpy(&mask, payload + 4 * i, sizeof mask);
    for (unsigned b = 0; b < sector_bytes; ++b) {
      const std::size_t at = s * sector_bytes + b;
      if ((mask >> b & 1) && at < line.size()) line[at] = data[i * sector_bytes + b];
    }
    ++i;
  }
}

std::vector<std::byte> load(const MemoryRequest& request, std::span<const std::byte> line) {
  std::vector<std::byte> answer;
  for (unsigned s = 0; s < line_bytes / sector_bytes; ++s) {
    if (!(request.sectors >> s & 1)) continue;
    const std::size_t begin = std::min<std::size_t>(s * sector_bytes, line.size());
    const std::size_t end = std::min<std::size_t>(begin + sector_bytes, line.size());
    const std::size_t sector = answer.size();
    answer.resize(sector + sector_bytes);  // zeros where the line has ended
    std::copy(line.begin() + static_cast<std::ptrdiff_t>(begin),
              line.begin() + static_cast<std::ptrdiff_t>(end),
              answer.begin() + static_cast<std::ptrdiff_t>(sector));
  }
  return answer;
}

std::vector<std::byte> modify(const MemoryRequest& request, const std::byte* payload,
                              std::span<std::byte> line) {
  std::vector<std::byte> old(std::size_t{8} * request.lanes);
  modify_lanes(request, payload, line, old.data());
  if ((request.flags & flag_returns) == 0) old.clear();
  return old;
}

}  // namespace

bool changes_remote(const MessageHeader& message, HostBuffer& buffer) {
  const auto& request = message.body<MemoryRequest>();
  if (request.operation != MemoryOperation::store && request.operation != MemoryOperation::atomic)
    return false;
  const std::span<const std::byte> line = line_of(request, buffer);
  std::vector<std::byte> changed(line.begin(), line.end());
  if (request.operation == MemoryOperation::store) {
    store(request, message.payload_data(), changed);
  } else {
    modify(request, message.payload_data(), changed);
  }
  return !std::equal(changed.begin(), changed.end(), line.begin());
}

std::vector<std::byte> serve_remote(const MessageHeader& message, HostBuffer& buffer) {
  const auto& request = message.body<MemoryRequest>();
  const std::span<std::byte> line = line_of(request, buffer);
  switch (request.operation) {
    case MemoryOperation::store:
      store(request, message.payload_data(), line);
      return {};
    case MemoryOperation::atomic:
      return modify(request, message.payload_data(), line);
    default:
      return load(request, line);
  }
}

}  // namespace lockstep
