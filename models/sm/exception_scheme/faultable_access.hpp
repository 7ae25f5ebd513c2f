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
  SmCycle commits = no_cycle;  ///< the cycle after its commit, when that is known
  std::uint32_t pc = 0;
  std::uint16_t flight = none;          ///< of its results
  std::uint16_t next = none;            ///< the warp's next one, in program order
  std::uint16_t logged = none;          ///< squashed: its place in the log
  std::uint16_t first_squashed = none;  ///< the first of its SquashedLanes
  std::uint8_t warp = 0;
  bool in_unit = true;     ///< the load-store unit has lines of it
  bool looked_up = false;  ///< all its lines have found their translations
  bool checked = false;
  bool committed = false;
  bool squashed = false;  ///< some lanes of it
  bool come = false;      ///< the page of some of those has been replayed
  bool owed = false;      ///< its block has been away since it was squashed first

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
  std::uint32_t groups = 0;  ///< the lines of the access that they are, as it was coalesced
  std::uint16_t access = FaultableAccess::none;
  bool come = false;                           ///< the page has been replayed since
  bool noticed = false;                        ///< by the scheduler of blocks
  std::uint16_t next = FaultableAccess::none;  ///< of the same access

  template <class Archive>
  void serialize(Archive& archive) {
    archive(page, lanes, groups, access, next, come, noticed);
  }
};

}  // namespace lockstep
