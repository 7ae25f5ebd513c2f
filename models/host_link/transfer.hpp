#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/time/time.hpp"
#include "models/host_link/owner.hpp"
#include "models/vm/frame_run.hpp"

namespace lockstep {

enum class TransferPart : std::uint64_t {
  program,     ///< a step of the tenant's program; number 0: no step waits for it
  write_back,  ///< of managed pages that leave (Departures)
  mapping,     ///< the first bytes of pages that are mapped (Mapper)
  inspection,  ///< of foreign pages (ForeignInspection)
};
/// The part that waits for a transfer.
using TransferOwner = Owner<TransferPart, std::uint64_t, 2>;

/// Bytes of one buffer that go over the host link together.
struct Transfer {
  enum class Kind : std::uint8_t {
    to_gpu,
    to_host,
    inspect,  ///< for checking: at once, past bandwidth, caches and queues
  };
  /// In order of precedence.
  enum class Class : std::uint8_t {
    fault,     ///< pages that somebody waits for
    prefetch,  ///< pages that come along, or were asked for ahead of time
    copy,      ///< asked for by the program, written back
  };
  Kind kind = Kind::to_gpu;
  Class rank = Class::copy;
  std::uint16_t tenant = 0;
  std::uint32_t buffer = 0;  ///< index in the tenant
  TransferOwner owner;
  std::uint64_t offset = 0;      ///< in the buffer
  std::uint64_t bytes = 0;       ///< at least one
  std::vector<FrameRun> frames;  ///< at the GPU, in order; `bytes` in all

  // Filled in by the link.
  Time started;  ///< handed to the link
  Time began;    ///< its direction was free for it
  Time done;     ///< its last line was acknowledged
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
    archive(kind, rank, tenant, buffer, owner, offset, bytes, frames, started, began, done);
  }
};

}  // namespace lockstep
