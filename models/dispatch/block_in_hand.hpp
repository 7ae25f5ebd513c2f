#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// A saved block that returns to whichever SM has room first.
struct BlockInHand {
  BlockGiven block;
  std::vector<std::byte> payload;  ///< payload of the message that gave the block

  /// Frees the memory of a block that ends with its tenant.
  void give_back(Link& to_sm, Time now, Outbox& outbox) const {
    const ContextPlace context{block.block.sm, block.place};
    outbox.send(to_sm, now, kind_of(MessageKind::context_free), context);
    const auto homes = std::span(payload).first(block.homes * sizeof(LocalHome));
    if (!homes.empty()) outbox.send(to_sm, now, kind_of(MessageKind::homes_free), context, homes);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(block, payload);
  }
};

}  // namespace lockstep
