/// Prefetches the state that the answers of a window will touch, one step of indirection per pass.
///
/// A window goes through the state of all SMs once.  That is more than this computer's caches hold,
/// so that nearly everything is far away when its turn comes.
/// Source: hot-path.md ("Passes that prefetch over a window's batch of messages").
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "core/memory/warm.hpp"
#include "models/sm/load_store/answers.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

/// Part of the messages of an inbox, sorted by the kind of request that they answer.
struct Answers::Batch {
  static constexpr std::size_t at_once = 64;
  struct Answer {
    const MessageHeader* message;
    std::uint16_t index;  ///< number of the miss or the store record
  };
  using List = std::array<Answer, at_once>;

  explicit Batch(Inbox inbox) {
    for (const MessageHeader* message : inbox) {
      if (message->kind != kind_of(MessageKind::memory_response)) continue;
      const std::uint32_t tag = message->body<MemoryResponse>().tag;
      const std::size_t kind = std::min<std::size_t>(RequestTag::kind(tag), others);
      lists_[kind][counts_[kind]++] = {message, RequestTag::index(tag)};
    }
  }
  std::span<const Answer> fills() const {
    return {lists_[RequestTag::fill].data(), counts_[RequestTag::fill]};
  }
  std::span<const Answer> stores() const {
    return {lists_[RequestTag::store].data(), counts_[RequestTag::store]};
  }

 private:
  static constexpr std::size_t others = 2;
  std::array<List, others + 1> lists_;
  std::array<std::size_t, others + 1> counts_{};
};

void Answers::warm_for(Inbox inbox) const {
  while (!inbox.empty()) {
    const Inbox some = inbox.first(std::min(Batch::at_once, inbox.size()));
    for (const MessageHeader* message : some) warm(message);
    warm_for(Batch(some));
    inbox = inbox.subspan(some.size());
  }
}

void Answers::warm_for(const Batch& batch) const {
  const MissTable& misses = l1_.misses();
  const L1Cache& cache = l1_.cache();
  const auto for_each_flight = [&](auto&& function) {
    for (const auto& [message, miss] : batch.fills())
      if (const std::uint16_t waiter = misses[miss].first; waiter != MissTable::none)
        function(flights_[misses.waiter(waiter).flight]);
  };
  for (const auto& [message, store] : batch.stores()) warm(&stores_[store]);
  for (const auto& [message, miss] : batch.fills()) {
    warm(&misses[miss]);
    cache.warm_head(message->body<MemoryResponse>().line / line_bytes);
    warm(message->payload_data(), message->payload_bytes);
  }
  for (const auto& [message, store] : batch.stores())
    warm(&blocks_.warp(WarpSlot(stores_[store].warp)));
  std::array<std::uint64_t, Batch::at_once> without_line;
  std::size_t count = 0;
  for (const auto& [message, miss] : batch.fills()) {
    if (misses[miss].first != MissTable::none) warm(&misses.waiter(misses[miss].first));
    if (misses[miss].line != L1Cache::none) {
      cache.warm_line(misses[miss].line);
    } else {
      without_line[count++] = misses[miss].tag;
    }
  }
  cache.warm_victims({without_line.data(), count});
  for_each_flight([](const Flight& flight) { warm(&flight); });
  for_each_flight(
      [&](const Flight& flight) { blocks_.warp(WarpSlot(flight.warp)).warm_for_issue(); });
  for_each_flight([&](const Flight& flight) {
    const Warp& warp = blocks_.warp(WarpSlot(flight.warp));
    const isa::Operand loaded = blocks_.instruction(warp, flight.pc).destination[0];
    if (loaded.is_register()) warp.warm_row(loaded.row());
  });
}

}  // namespace lockstep
