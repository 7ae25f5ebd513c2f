#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/ids.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// Registers and predicates that issued instructions of a warp have not read yet, so that other
/// instructions must not overwrite them.  A register may have several readers, so they are counted.
/// Source: virtual-memory-and-exceptions.md, section 2.1 (pendRead).
class PendingSources {
 public:
  explicit PendingSources(std::size_t warps) : bits_(warps), readers_(warps) {}

  void begin(WarpSlot warp, const PreciseRecord& record) {
    for (unsigned i = 0; i < record.source_count; ++i) {
      ++readers_[warp.value()][WarpEvent::place(record.sources[i])];
      bits_[warp.value()].pending.mark(record.sources[i]);
    }
    ++bits_[warp.value()].instructions;
  }
  void end(WarpSlot warp, const PreciseRecord& record) {
    for (unsigned i = 0; i < record.source_count; ++i)
      if (--readers_[warp.value()][WarpEvent::place(record.sources[i])] == 0)
        bits_[warp.value()].pending.clear(record.sources[i]);
    --bits_[warp.value()].instructions;
  }
  /// Returns whether some instruction of the warp has yet to read its sources.
  bool any(WarpSlot warp) const { return bits_[warp.value()].instructions != 0; }
  /// Returns whether an instruction that writes these places would overwrite a protected one.
  bool hold(WarpSlot warp, const Scoreboard& written) const {
    return bits_[warp.value()].pending.meets(written);
  }

  void serialize(Archive& archive) {
    for (OfWarp& warp : bits_) archive(warp.pending.places, warp.instructions);
    archive(readers_);
  }

 private:
  /// State of a warp, in a cache line of its own: every instruction of a warp with such sources
  /// looks at it.
  struct alignas(64) OfWarp {
    Scoreboard pending;
    std::uint32_t instructions = 0;
  };
  std::vector<OfWarp> bits_;
  std::vector<std::array<std::uint8_t, 320>>
      readers_;  ///< readers of each place; a pair counts at its first row
};

}  // namespace lockstep
