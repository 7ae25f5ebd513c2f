#pragma once

#include <cstdint>

#include "models/sm/parameters/sm_cycle.hpp"
#include "models/vm/tlb_key.hpp"

namespace lockstep {

/// A memory instruction of a warp that may fault, from issue until it is past its last check and,
/// if the scheme hears of that, has committed.
struct FaultableAccess {
  static constexpr std::uint16_t none = 0xffff;

  SmCycle issued;
  SmCycle commits = no_cycle;  ///< cycle after the access commits, once known
  std::uint32_t pc = 0;
  std::uint16_t flight = none;          ///< flight of the results
  std::uint16_t next = none;            ///< next access of the warp, in program order
  std::uint16_t logged = none;          ///< squashed: place in the log
  std::uint16_t first_squashed = none;  ///< first SquashedLanes of the access
  std::uint8_t warp = 0;
  bool in_unit = true;     ///< lines of the access are in the load-store unit
  bool looked_up = false;  ///< all lines have found their translations
  bool checked = false;
  bool committed = false;
  bool squashed = false;  ///< at least one lane is squashed
  bool come = false;      ///< the page of a squashed lane has been replayed
  bool owed = false;      ///< the block has been away since the access was first squashed

  template <class Archive>
  void serialize(Archive& archive) {
    archive(issued, commits, pc, flight, next, logged, first_squashed, warp, in_unit, looked_up,
            checked, committed, squashed, come, owed);
  }
};

/// Lanes of a squashed access that wait for a page.
struct SquashedLanes {
  TlbKey page;
  std::uint32_t lanes = 0;
  /// Mask of the access's lines, as coalesced, to which the lanes belong.
  std::uint32_t groups = 0;
  std::uint16_t access = FaultableAccess::none;
  bool come = false;                           ///< the page has been replayed since
  bool noticed = false;                        ///< the block scheduler has seen the entry
  std::uint16_t next = FaultableAccess::none;  ///< next entry of the same access

  template <class Archive>
  void serialize(Archive& archive) {
    archive(page, lanes, groups, access, next, come, noticed);
  }
};

}  // namespace lockstep
