#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/time/time.hpp"
#include "models/host_link/owner.hpp"
#include "models/vm/frame_run.hpp"

namespace lockstep {

enum class TransferPart : std::uint64_t {
  program,     ///< a step of the tenant's program; number 0: no step waits for the transfer
  write_back,  ///< managed pages that leave (Departures)
  mapping,     ///< first bytes of pages that are mapped (Mapper)
  inspection,  ///< foreign pages (ForeignInspection)
};
/// The part that waits for a transfer.
using TransferOwner = Owner<TransferPart, std::uint64_t, 2>;

/// Bytes of one buffer that go over the host link together.
struct Transfer {
  enum class Kind : std::uint8_t {
    to_gpu,
    to_host,
    inspect,  ///< reads for checking: at once, past bandwidth, caches and queues
  };
  /// Classes of transfers, in order of precedence.
  enum class Class : std::uint8_t {
    fault,     ///< pages that an access waits for
    prefetch,  ///< pages that come along, or were asked for ahead of time
    copy,      ///< copies asked for by the program, and write-backs
  };
  Kind kind = Kind::to_gpu;
  Class rank = Class::copy;
  /// To the GPU: the bytes are still the buffer's initial content, and the content can be computed
  /// anywhere.
  bool is_initial = false;
  std::uint16_t tenant = 0;
  std::uint32_t buffer = 0;  ///< number of the buffer in the tenant
  TransferOwner owner;
  std::uint64_t offset = 0;      ///< offset in the buffer
  std::uint64_t bytes = 0;       ///< number of bytes, at least one
  std::vector<FrameRun> frames;  ///< frames of the GPU in order; `bytes` in all

  // Filled in by the link.
  Time started;  ///< time at which the transfer was handed to the link
  Time began;    ///< time from which the direction was free for the transfer
  Time done;     ///< time at which the last line was acknowledged
  Time queue_time() const { return began - started; }
  Time transfer_time() const { return done - began; }
  /// Reads or writes some of these frames.
  bool touches(const FrameRun& other) const {
    return std::any_of(frames.begin(), frames.end(), [&](const FrameRun& run) {
      return run.physical < other.physical + other.bytes &&
             other.physical < run.physical + run.bytes;
    });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, rank, is_initial, tenant, buffer, owner, offset, bytes, frames, started, began,
            done);
  }
};

}  // namespace lockstep
