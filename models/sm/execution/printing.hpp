/// printf of kernels: a warp collects the text, which then goes to the host.
///
/// Source: models/isa/text/warp_print.hpp; CUDA C++ Programming Guide, "Formatted Output".
///
/// Cost model: each `print` instruction takes the control unit's latency.  The text leaves the SM
/// behind earlier messages and arrives after the host link's latency, always before the host hears
/// of the end of the grid.  It takes no bandwidth of port and link.
#pragma once

#include <cstdint>
#include <map>

#include "models/isa/text/warp_print.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

class Printing {
 public:
  explicit Printing(const SmContext& sm)
      : blocks_(sm.blocks), mistakes_(sm.mistakes), ports_(sm.ports) {}

  /// Executes a `print` of the active lanes.
  void execute(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t active,
               SmCycle now);
  /// Returns whether the warp has begun a printf.
  bool amid(WarpSlot slot) const { return prints_.count(slot.value()) != 0; }
  /// Drops the text of a warp that was ended in the middle of a printf.
  void forget(WarpSlot slot) { prints_.erase(slot.value()); }

  void serialize(Archive& archive) {
    archive.section("sm/printing", 1);
    archive(prints_);
  }

 private:
  ResidentBlocks& blocks_;
  Mistakes& mistakes_;
  SmPorts& ports_;
  std::map<unsigned, isa::WarpPrint> prints_;  ///< unfinished printf of each warp slot
};

}  // namespace lockstep
