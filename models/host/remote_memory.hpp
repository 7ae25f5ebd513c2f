/// Pinned host memory for accesses of the GPU: over the link, uncached, with atomics executed here.
///
/// Source: architecture.md, section 8 ("The host").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/message/message.hpp"
#include "models/host/host_buffer.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Returns the "physical" address (12 bits tenant, 12 bits buffer, 40 bits offset) of a pinned
/// buffer's first byte in requests of the GPU.
constexpr std::uint64_t remote_address(TenantId tenant, BufferId buffer) {
  return ((std::uint64_t{tenant.value()} << 12 | buffer.value()) + 1) << 40;
}
constexpr BufferId remote_buffer(std::uint64_t address) {
  return BufferId{static_cast<std::uint32_t>(((address >> 40) - 1) & 0xfff)};
}
constexpr std::uint64_t remote_offset(std::uint64_t address) {
  return address & ((std::uint64_t{1} << 40) - 1);
}

/// Reads, writes or modifies the bytes of a request and returns the payload of its answer;
/// changes_remote() tells whether that will change a byte of the buffer.
bool changes_remote(const MessageHeader& message, HostBuffer& buffer);
std::vector<std::byte> serve_remote(const MessageHeader& message, HostBuffer& buffer);

}  // namespace lockstep
