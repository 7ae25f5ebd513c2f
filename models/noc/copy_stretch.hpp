/// A stretch of a copy over the host link: lines that a partition gets one after the other, at
/// times that the link has computed.
///
/// The lines come as if each were a message of its own.  So a copy costs its sender one message for
/// a partition and stretch, and initial content is made where it goes.
///
/// Source: design of the project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Writes the initial content of a buffer of a tenant of the GPU, from an offset on.  Bytes beyond
/// the buffer's end keep their values.
using InitialBytes = std::function<void(std::uint16_t tenant, std::uint32_t buffer,
                                        std::uint64_t offset, std::span<std::byte> bytes)>;

/// Host, or the component that serves its link -> partition.  Payload: `lines` records CopiedLine
/// by arrival; for the GPU, unless the bytes are initial content, 128 bytes for each line behind
/// them.
struct CopyStretch {
  std::uint64_t offset = 0;  ///< offset of the stretch in the buffer
  std::uint32_t number = 0;  ///< the sender's number of a stretch to the GPU
  std::uint32_t buffer = 0;
  std::uint16_t lines = 0;
  std::uint16_t tenant = 0;
  std::uint8_t to_gpu = 0;
  std::uint8_t is_initial = 0;           ///< 1: the bytes are the buffer's initial content
  SourceKind source = SourceKind::host;  ///< kind of the sender, to which the answers go
  std::uint8_t unused = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(offset, number, buffer, lines, tenant, to_gpu, is_initial, source);
  }
};

struct CopiedLine {
  Time arrival;               ///< arrival of the line's request at the partition
  std::uint64_t address = 0;  ///< physical address of its first byte
  std::uint32_t at = 0;       ///< offset in the stretch
  std::uint32_t bytes = 0;
  std::uint32_t tag = 0;  ///< tag of a request for the host; to the GPU, one answer is for all
  std::uint32_t unused = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(arrival, address, at, bytes, tag);
  }
};

/// Partition -> sender, when the last of its lines of a stretch to the GPU is acknowledged.
struct StretchDone {
  std::uint32_t number = 0;
  std::uint32_t lines = 0;
  std::uint64_t bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, lines, bytes);
  }
};

}  // namespace lockstep
