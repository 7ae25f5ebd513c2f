/// What a partition does with its inbox before it simulates the window: the bytes are touched here,
/// in inbox order, and cycles decide only when answers leave.
///
/// Source: architecture.md, section 8, rules 1, 8 (owners of frames) and 10; hot-path.md ("passes
/// that prefetch over a window's batch of messages").
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "core/memory/warm.hpp"
#include "models/isa/types.hpp"
#include "models/memory/partition_core.hpp"

namespace lockstep {

namespace {
constexpr std::uint64_t frame_bytes = 4096;
}

void PartitionCore::accept(Inbox inbox) {
  // As many as a core's nearest cache holds with all that they touch.
  constexpr std::size_t at_once = 32;
  for (; !inbox.empty(); inbox = inbox.subspan(std::min(at_once, inbox.size()))) {
    const Inbox some = inbox.first(std::min(at_once, inbox.size()));
    warm_requests(some);
    for (const MessageHeader* message : some) accept(*message);
  }
}

void PartitionCore::accept(const MessageHeader& message) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_request:
      accept_request(message);
      break;
    case MessageKind::zero_range:
      accept_zero(message);
      break;
    default:
      LOCKSTEP_CHECK(false, "a partition got a message it does not understand");
  }
}

/// What the requests will touch is brought near.
void PartitionCore::warm_requests(Inbox inbox) const {
  const auto for_each_request = [&](auto&& function) {
    for (const MessageHeader* message : inbox) {
      if (message->kind != kind_of(MessageKind::memory_request)) continue;
      const auto& request = message->body<MemoryRequest>();
      const auto line = static_cast<std::uint32_t>(mapping_.offset(request.line) / line_bytes);
      function(request, banks_[bank_of(line)], line);
    }
  };
  const auto warm_line = [&](const L2Bank& bank, std::uint32_t line) {
    bank.warm_set(line);
    memory_.warm_line(std::uint64_t{line} * line_bytes);
  };
  for (const MessageHeader* message : inbox) warm(message);
  std::size_t count = 0;
  for_each_request([&](const MemoryRequest& request, const L2Bank& bank, std::uint32_t line) {
    const std::uint32_t slot = transactions_.free(count++);
    transactions_.warm(slot);
    input_.warm_arrival(sender_of(request), slot);
    warm(&unanswered_[sender_of(request)]);
    if (request.operation == MemoryOperation::load) {
      bank.warm_tags(line);
    } else {
      warm_line(bank, line);
    }
  });
  // What loads read is needed when they are answered: soon if L2 has the line.
  for_each_request([&](const MemoryRequest& request, const L2Bank& bank, std::uint32_t line) {
    if (request.operation != MemoryOperation::load) return;
    if (bank.has(line)) {
      warm_line(bank, line);
    } else {
      bank.warm_miss(line);
    }
  });
}

std::uint32_t PartitionCore::bank_of(std::uint32_t line) const {
  const auto mask = static_cast<std::uint32_t>(banks_.size()) - 1;
  return (line ^ line >> 3 ^ line >> 7 ^ line >> 12) & mask;
}

void PartitionCore::accept_request(const MessageHeader& message) {
  const auto& request = message.body<MemoryRequest>();
  LOCKSTEP_CHECK(request.sectors != 0 && request.sectors < 16 && request.line % line_bytes == 0,
                 "a request is for no sectors of one line");
  LOCKSTEP_DEBUG_CHECK(mapping_.partition(request.line) == index_.value(),
                       "a request came to the wrong partition");
  check_owner(request);
  const std::uint32_t index = transactions_.allocate();
  Transaction& t = transactions_[index];
  t.request = request;
  t.next = Transaction::none;
  t.next_read = Transaction::has_read;
  t.missing = 0;
  t.hits = 0;
  const std::uint64_t offset = mapping_.offset(request.line);
  t.line = static_cast<std::uint32_t>(offset / line_bytes);
  t.bank = static_cast<std::uint8_t>(bank_of(t.line));
  t.arrival = cycle_at_or_after(message.arrival);
  t.bypass = (request.flags & flag_bypass_l2) != 0 && request.operation != MemoryOperation::atomic;
  const std::byte* payload = message.payload_data();
  switch (request.operation) {
    case MemoryOperation::load:
      reads_.add(transactions_, index);
      break;
    case MemoryOperation::inspect:
      read(index, transactions_.data(index));
      break;
    case MemoryOperation::store:
      accept_store(index, payload);
      break;
    case MemoryOperation::atomic:
      read_pending(t.line, t.line + 1);
      memory_.atomic(offset, request, payload, transactions_.data(index));
      break;
  }
  cycle_ = std::min(cycle_, t.arrival);
  if (request.operation == MemoryOperation::inspect) {
    controls_.push({t.arrival, index, {}});
    return;
  }
  ++statistics_.tenant[request.tenant].requests;
  statistics_.tenant[request.tenant].bytes_in += message.payload_bytes;
  arrivals_.push({t.arrival, index});
}

void PartitionCore::accept_store(std::uint32_t index, const std::byte* payload) {
  Transaction& t = transactions_[index];
  std::array<std::uint32_t, 4> masks;
  const unsigned sectors = t.request.sector_count();
  std::memcpy(masks.data(), payload, sectors * sizeof masks[0]);
  t.whole = std::all_of(masks.begin(), masks.begin() + sectors,
                        [](std::uint32_t mask) { return mask == ~std::uint32_t{0}; });
  if (!t.whole)
    for (unsigned rest = t.request.sectors, i = 0; rest != 0; rest &= rest - 1, ++i)
      transactions_.set_mask(index, static_cast<unsigned>(std::countr_zero(rest)), masks[i]);
  read_pending(t.line, t.line + 1);
  memory_.store(std::uint64_t{t.line} * line_bytes, t.request.sectors, payload);
}

void PartitionCore::read_pending(std::uint32_t first_line, std::uint32_t last_line) {
  reads_.take(transactions_, first_line, last_line,
              [&](std::uint32_t index) { read(index, transactions_.data(index)); });
}

void PartitionCore::read(std::uint32_t index, std::byte* out) const {
  const Transaction& t = transactions_[index];
  memory_.load(std::uint64_t{t.line} * line_bytes, t.request.sectors, out);
}

/// Local memory goes from tenant to tenant without being zeroed: PTX leaves its content undefined.
void PartitionCore::check_owner([[maybe_unused]] const MemoryRequest& request) {
#ifndef NDEBUG
  if ((request.flags & flag_local) != 0) return;
  const auto frame = frame_owners_.try_emplace(request.line / frame_bytes, request.tenant).first;
  // The driver hands frames over when it fills them.
  if (request.requester == host_requester && request.operation == MemoryOperation::store)
    frame->second = request.tenant;
  LOCKSTEP_CHECK(frame->second == request.tenant, "tenant " + std::to_string(request.tenant) +
                                                      " reached a frame of tenant " +
                                                      std::to_string(frame->second));
#endif
}

/// Simplified: zeroing runs at the speed of the banks and does not take DRAM time.
void PartitionCore::accept_zero(const MessageHeader& message) {
  const auto& range = message.body<ZeroRange>();
  frame_owners_.erase(frame_owners_.lower_bound(range.base / frame_bytes),
                      frame_owners_.lower_bound((range.base + range.bytes) / frame_bytes));
  const std::uint64_t bytes = zero_owned(range);
  const std::uint64_t per_cycle = banks_.size() * parameters_.l2.bank_width;
  const std::int64_t start = cycle_at_or_after(message.arrival);
  controls_.push({start + static_cast<std::int64_t>(bytes / per_cycle), Transaction::none, range});
  cycle_ = std::min(cycle_, start);
}

/// Zeroes what this partition holds of a range; its size.
std::uint64_t PartitionCore::zero_owned(const ZeroRange& range) {
  const std::uint64_t chunk = mapping_.chunk_bytes();
  const std::uint64_t stripe = chunk * mapping_.partitions();
  const std::uint64_t end = range.base + range.bytes;
  std::uint64_t zeroed = 0;
  const auto zero = [&](std::uint64_t offset, std::uint64_t bytes) {
    read_pending(static_cast<std::uint32_t>(offset / line_bytes),
                 static_cast<std::uint32_t>((offset + bytes + line_bytes - 1) / line_bytes));
    memory_.zero(offset, bytes);
  };
  const auto zero_chunks = [&](std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      const std::uint64_t next = std::min(to, (from / chunk + 1) * chunk);
      if (mapping_.partition(from) == index_.value()) {
        zero(mapping_.offset(from), next - from);
        zeroed += next - from;
      }
      from = next;
    }
  };
  // Every mapping deals a whole stripe out evenly, and to the same offsets everywhere.
  const std::uint64_t first = (range.base + stripe - 1) / stripe, last = end / stripe;
  if (first >= last) {
    zero_chunks(range.base, end);
    return zeroed;
  }
  zero_chunks(range.base, first * stripe);
  zero(first * chunk, (last - first) * chunk);
  zeroed += (last - first) * chunk;
  zero_chunks(last * stripe, end);
  return zeroed;
}

std::uint32_t PartitionCore::request_flits(const MemoryRequest& request) const {
  if (request.operation == MemoryOperation::load) return load_flits_;
  std::uint32_t bytes = 0;
  if (request.operation == MemoryOperation::store)
    bytes = static_cast<std::uint32_t>(sector_bytes) * request.sector_count();
  if (request.operation == MemoryOperation::atomic)
    bytes = request.shape().bytes() / request.shape().words() * request.lanes;
  return noc_.flits(bytes);
}

}  // namespace lockstep
