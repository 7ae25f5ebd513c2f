/// What a window will touch is brought near first.
///
/// A window goes through the state of all SMs once, which is more than this computer's caches hold,
/// so that nearly everything is far away when its turn comes. Source: hot-path.md ("Passes that
/// prefetch over a window's batch of messages").
#include "core/memory/warm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "models/sm/ports/request_tag.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

static void warm_range(const void* begin, const void* end) {
  warm(begin,
       static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(begin)));
}

void SmState::warm_window(Inbox inbox) const {
  // What the SM always uses; members before, between and behind are seldom looked at.
  warm_range(&statistics.tenant, wheel.seldom_used());
  warm_range(&scheduler, &translation.known);
  warm(&statistics.tenant[0], offsetof(SmStatistics::OfTenant, l1_merges));
  warm(&queue[queue_place(queue_count)], offsetof(Access, group) + sizeof(LineGroup));
  misses.warm_next(3);
  flights.warm_next(3);
  warm_answers(inbox);
  warm_ready_warps();
}

/// What every issue of a warp touches; see Warp.
static void warm_warp(const Warp& warp) {
  warm(&warp, offsetof(Warp, paths));
}

static void warm_row(const Warp& warp, std::size_t row) {
  constexpr std::size_t row_bytes = isa::warp_size * sizeof(std::uint32_t);
  warm(warp.registers + row * isa::warp_size, row_bytes);
}

void SmState::warm_ready_warps() const {
  std::uint64_t all = 0;
  for (const std::uint64_t of_unit : ready) all |= of_unit;
  const auto for_each_warp = [&](auto&& function) {
    for (std::uint64_t left = all; left != 0; left &= left - 1)
      function(warps[static_cast<unsigned>(std::countr_zero(left))]);
  };
  for_each_warp(warm_warp);
  for_each_warp([&](const Warp& warp) {
    const IssueRecord& record = warp.records[warp.paths.pc()];
    if (record.unit == static_cast<std::uint8_t>(isa::Unit::memory))
      warm(&blocks[warp.block].phase);
    for (std::size_t i = 0; i < record.touches.size(); ++i)
      if (i == 0 || record.touches[i] != record.touches[0]) warm_row(warp, record.touches[i]);
  });
}

/// Some messages of an inbox, sorted by what they answer.
struct SmState::Answers {
  static constexpr std::size_t at_once = 64;
  struct Answer {
    const MessageHeader* message;
    std::uint16_t index;  ///< of the miss or the store record
  };
  using List = std::array<Answer, at_once>;

  explicit Answers(Inbox inbox) {
    for (const MessageHeader* message : inbox) {
      if (message->kind != kind_of(MessageKind::memory_response)) continue;
      const std::uint32_t tag = message->body<MemoryResponse>().tag;
      const std::size_t kind = std::min<std::size_t>(RequestTag::kind(tag), others);
      lists[kind][counts[kind]++] = {message, RequestTag::index(tag)};
    }
  }
  std::span<const Answer> fills() const {
    return {lists[RequestTag::fill].data(), counts[RequestTag::fill]};
  }
  std::span<const Answer> stores() const {
    return {lists[RequestTag::store].data(), counts[RequestTag::store]};
  }

 private:
  static constexpr std::size_t others = 2;
  std::array<List, others + 1> lists;
  std::array<std::size_t, others + 1> counts{};
};

void SmState::warm_answers(Inbox inbox) const {
  for (; !inbox.empty(); inbox = inbox.subspan(std::min(Answers::at_once, inbox.size()))) {
    const Inbox some = inbox.first(std::min(Answers::at_once, inbox.size()));
    for (const MessageHeader* message : some) warm(message);
    warm_answers(Answers(some));
  }
}

/// What the answers lead to, one step of indirection per pass.
void SmState::warm_answers(const Answers& answers) const {
  const auto for_each_flight = [&](auto&& function) {
    for (const auto& [message, miss] : answers.fills())
      if (const std::uint16_t waiter = misses[miss].first; waiter != MissTable::none)
        function(flights[misses.waiter(waiter).flight]);
  };
  for (const auto& [message, store] : answers.stores()) warm(&stores[store]);
  for (const auto& [message, miss] : answers.fills()) {
    warm(&misses[miss]);
    l1.warm_head(message->body<MemoryResponse>().line / line_bytes);
    warm(message->payload_data(), message->payload_bytes);
  }
  for (const auto& [message, store] : answers.stores()) warm(&warps[stores[store].warp]);
  std::array<std::uint64_t, Answers::at_once> without_line;
  std::size_t count = 0;
  for (const auto& [message, miss] : answers.fills()) {
    if (misses[miss].first != MissTable::none) warm(&misses.waiter(misses[miss].first));
    if (misses[miss].line != L1Cache::none) {
      l1.warm_line(misses[miss].line);
    } else {
      without_line[count++] = misses[miss].tag;
    }
  }
  l1.warm_victims({without_line.data(), count});
  for_each_flight([](const Flight& flight) { warm(&flight); });
  for_each_flight([&](const Flight& flight) { warm_warp(warps[flight.warp]); });
  for_each_flight([&](const Flight& flight) {
    const Warp& warp = warps[flight.warp];
    const isa::Operand loaded = grids[warp.grid].instructions[flight.pc].destination[0];
    if (loaded.is_register()) warm_row(warp, loaded.row());
  });
}

}  // namespace lockstep
