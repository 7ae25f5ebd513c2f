/// Passes over a window's answers that bring what they will touch into the host's caches.
///
/// Each pass reads only what the one before has asked for, so that none of them waits for memory.
/// Source: hot-path.md, "Passes that prefetch over a window's batch of messages".
#include "models/sm/request_tag.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

/// Calls function(response, message) for each answer to a load.
template <class Function>
void for_each_fill(std::span<const MessageHeader* const> inbox, Function&& function) {
  for (const MessageHeader* message : inbox) {
    if (message->kind != static_cast<std::uint16_t>(MessageKind::memory_response)) continue;
    const auto& response = message->body<MemoryResponse>();
    if (RequestTag::kind(response.tag) == RequestTag::fill) function(response, *message);
  }
}

}  // namespace

void SmState::prefetch_responses(std::span<const MessageHeader* const> inbox) {
  for (const MessageHeader* message : inbox) __builtin_prefetch(message);
  for_each_fill(inbox, [&](const MemoryResponse& response, const MessageHeader& message) {
    __builtin_prefetch(&misses[RequestTag::index(response.tag)]);
    l1.prefetch(response.line / line_bytes);
    __builtin_prefetch(message.payload_data());
    __builtin_prefetch(message.payload_data() + 64);
  });
  const auto waiter_of = [&](const MemoryResponse& response) -> const Waiter* {
    const std::uint16_t first = misses[RequestTag::index(response.tag)].first;
    return first == MissTable::none ? nullptr : &misses.waiter(first);
  };
  for_each_fill(inbox, [&](const MemoryResponse& response, const MessageHeader&) {
    if (const Waiter* waiter = waiter_of(response)) __builtin_prefetch(waiter);
  });
  for_each_fill(inbox, [&](const MemoryResponse& response, const MessageHeader&) {
    if (const Waiter* waiter = waiter_of(response)) __builtin_prefetch(&flights[waiter->flight]);
  });
  for_each_fill(inbox, [&](const MemoryResponse& response, const MessageHeader&) {
    const Waiter* waiter = waiter_of(response);
    if (waiter == nullptr) return;
    const Flight& flight = flights[waiter->flight];
    const Warp& warp = warps[flight.warp];
    const isa::Operand to = warp.instructions[flight.pc].destination[0];
    if (!to.is_register()) return;
    const std::uint32_t* row = warp.context.row(to);
    __builtin_prefetch(row);
    __builtin_prefetch(row + 16);
  });
}

}  // namespace lockstep
