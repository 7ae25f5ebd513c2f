#pragma once

#include <cstdint>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"

/// Messages between the host and the component that serves a link's transfers (link_unit.hpp).
namespace lockstep {

/// Largest message in which the host sends bytes of a transfer.
inline constexpr std::uint64_t link_message_bytes = std::uint64_t{1} << 20;

/// link_transfer: host -> link; payload: its FrameRuns.
struct LinkTransfer {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;      ///< offset in the buffer
  std::uint32_t number = 0;      ///< number chosen by the host; comes back
  std::uint32_t buffer = 0;      ///< number of the buffer in the tenant
  std::uint32_t is_initial = 0;  ///< 1: the bytes are the buffer's initial content
  std::uint16_t tenant = 0;      ///< number of the tenant on the GPU
  std::uint8_t kind = 0;         ///< value of Transfer::Kind
  std::uint8_t rank = 0;         ///< value of Transfer::Class

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes, offset, number, buffer, is_initial, tenant, kind, rank);
  }
};
static_assert(sizeof(LinkTransfer) == 32);

/// link_bytes: host -> link behind link_transfer, unless the bytes are initial content; link ->
/// host before link_moved; payload: bytes of the transfer from `offset` on.
struct LinkBytes {
  std::uint64_t offset = 0;
  std::uint64_t number = 0;  ///< number of the transfer
};

/// link_moved: link -> host, when the last line is acknowledged.
struct LinkMoved {
  std::uint64_t number = 0;
  Time began;  ///< time from which the direction was free for the transfer
};

/// link_answer: host -> link -> SM as memory_response; payload: the answer's.
struct LinkAnswer {
  MemoryResponse answer;
  std::uint64_t received = 0;  ///< bytes that came with the request
};

}  // namespace lockstep
