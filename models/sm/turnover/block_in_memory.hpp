#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/blocks/block_slot.hpp"
#include "models/sm/context/block_context.hpp"
#include "models/sm/parameters/occupancy.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

/// A thread block whose context stands in memory, or moves.
struct BlockInMemory {
  enum class State : std::uint8_t { leaving, there, returning };

  State state = State::leaving;
  bool dropped = false;  ///< the tenant was ended while the block moved
  /// The dispatcher sent the block: it may return although its grid is stopped here.
  bool sent = false;
  BlockReference reference;
  TenantId tenant;
  std::optional<BlockPosition> at;  ///< place for the return, if the dispatcher names one
  std::uint8_t grid = 0;            ///< place of the grid in the SM
  BlockPlace place;                 ///< place of the moving block in the SM
  std::uint32_t number = 0;         ///< number of the block's place in the context area
  std::uint64_t bytes = 0;          ///< bytes of the context
  ContextParts parts;
  KeptContext kept;  ///< part of the context that stays on chip
  std::vector<LocalHome> homes;
  std::vector<TlbKey> pages;  ///< pages that the block waits for
  BlockProgress progress;     ///< progress at departure; `began` counts from there
  SmCycle ready;              ///< cycle since which the block could go on
  SmCycle moves;              ///< cycle since which the context moves, or last moved

  /// Resources of the SM that the block keeps while it is away.
  BlockResources kept_resources() const {
    BlockResources resources;
    resources.registers = kept.register_count;
    resources.shared_bytes = kept.shared_bytes;
    return resources;
  }
  std::uint8_t keeps() const {
    return (kept.register_count > 0 ? in_place::registers : 0) |
           (kept.shared_bytes > 0 ? in_place::shared : 0);
  }
  bool can_return() const { return state == State::there && pages.empty(); }
  /// Notes that a page has come; all_keys: every page.  Returns whether the block waited for it.
  bool page_came(TlbKey key, SmCycle now) {
    if (pages.empty()) return false;
    const bool waited_for =
        std::erase_if(pages, [&](TlbKey page) { return key == all_keys || page == key; }) > 0;
    ready = now;
    return waited_for;
  }
  static constexpr TlbKey all_keys{};

  void serialize(Archive& archive) {
    archive(state, dropped, sent, reference, tenant, at, grid, place, number, bytes, parts, kept,
            homes, pages, progress, ready, moves);
  }
};

}  // namespace lockstep
