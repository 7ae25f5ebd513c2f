#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/failure.hpp"
#include "core/engine/mail/inbox.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/profile.hpp"
#include "core/exec/thread_time.hpp"
#include "core/memory/cache_aligned.hpp"

namespace lockstep {

/// Messages sent in one window.  There are two in turn: one is filled while the other, from the
/// window before, is read.
struct Mailbag {
  std::vector<MessageLog> logs;  ///< one log per share

  /// Returns the window in which the mail was filled.
  std::uint64_t window() const { return logs.front().window(); }

  /// Empties it for `new_window`.
  void reuse(std::uint64_t new_window) {
    for (MessageLog& log : logs) log.reuse(new_window);
  }
};

/// State that a thread owns while it runs components.
struct alignas(128) Worker {
  std::array<Mailbag, 2> bags;
  std::array<Outbox, 2> outboxes;
  /// Messages to other ranks since the exchange, one log per neighbouring rank.
  std::vector<MessageLog> remote;
  /// Earliest activity or arrival of each kind, as known of this window.
  CacheAlignedVector<Time> floor;
  CacheAlignedVector<Time>
      remote_floor;  ///< earliest arrival of each kind on other ranks since the exchange
  InboxBuilder inbox;
  std::optional<Failure> failure;
  // Sampled times; each sample counts for as many windows as it stands for.
  std::uint64_t copying_ticks = 0;  ///< ticks spent on copying inboxes
  std::uint64_t measured_inboxes = 0;
  std::uint64_t looking_ticks = 0;  ///< ticks in which observers looked at components
  std::vector<WindowCost> costs;
  ThreadTime time;  ///< times of the thread, for a profile
};

}  // namespace lockstep
