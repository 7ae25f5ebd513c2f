#include "core/engine/inbox.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/engine/failure.hpp"
#include "core/engine/ranking.hpp"
#include "core/time/format.hpp"

namespace lockstep {
namespace {

constexpr int arrival_bits = 23;
static_assert((std::uint64_t{most_ranked} << arrival_bits) == std::uint64_t{1} << 31);

[[noreturn]] void late_message(const MessagePlace& message, Time reached) {
  throw LateMessage(message.link(),
                    "arrives at " + to_text(message.arrival) + ", but its receiver stands at " +
                        to_text(reached) + " already (" +
                        std::to_string((reached - message.arrival).femtoseconds()) + " fs late)");
}

}  // namespace

void PendingMessages::keep(const std::byte* data, std::span<const MessagePlace> messages) {
  if (waiting_.empty()) {
    bytes_.clear();
    live_ = 0;
  } else if (bytes_.bytes().size() > 2 * live_ + 4096) {
    compact();
  }
  const std::uint32_t from = messages.front().offset;
  const std::size_t size = messages.back().offset + messages.back().size - from;
  const auto to = static_cast<std::uint32_t>(bytes_.bytes().size());
  std::memcpy(bytes_.append(size), data + from, size);
  live_ += size;
  for (MessagePlace place : messages) {
    place.offset = place.offset - from + to;
    waiting_.push_back(place);
    earliest_ = std::min(earliest_, place.arrival);
  }
}

template <class Action>
void PendingMessages::take_before(Time horizon, Action&& action) {
  if (earliest_ >= horizon) return;
  earliest_ = Time::never();
  std::size_t kept = 0;
  for (const MessagePlace& waiting : waiting_) {
    if (waiting.arrival < horizon) {
      action(waiting, bytes_.bytes().data());
      live_ -= waiting.size;
    } else {
      earliest_ = std::min(earliest_, waiting.arrival);
      waiting_[kept++] = waiting;
    }
  }
  waiting_.resize(kept);
}

std::vector<const MessageHeader*> PendingMessages::sorted() const {
  std::vector<const MessageHeader*> messages;
  for (const MessagePlace& waiting : waiting_)
    messages.push_back(
        reinterpret_cast<const MessageHeader*>(bytes_.bytes().data() + waiting.offset));
  std::sort(messages.begin(), messages.end(), [](const auto* a, const auto* b) {
    return std::tie(a->arrival, a->link, a->sequence) < std::tie(b->arrival, b->link, b->sequence);
  });
  return messages;
}

/// In place: what waits stands in the order in which it came.
void PendingMessages::compact() {
  std::size_t end = 0;
  for (MessagePlace& waiting : waiting_) {
    bytes_.move(waiting.offset, end, waiting.size);
    waiting.offset = static_cast<std::uint32_t>(end);
    end += waiting.size;
  }
  bytes_.shrink(end);
}

void InboxBuilder::begin(Time reached, Time horizon) {
  reached_ = reached;
  horizon_ = horizon;
  entries_.clear();
}

void InboxBuilder::add(const OpenedBuffer& mail, PendingMessages& pending) {
  // What comes later stands together: most senders send in the order of time.
  const MessagePlace* later = nullptr;
  const auto keep_up_to = [&](const MessagePlace* end) {
    if (later) pending.keep(mail.data, {later, end});
    later = nullptr;
  };
  for (const MessagePlace& place : mail.places()) {
    if (place.arrival < reached_) [[unlikely]]
      late_message(place, reached_);
    if (place.arrival < horizon_) {
      keep_up_to(&place);
      take(place, mail.data);
    } else if (!later) {
      later = &place;
    }
  }
  keep_up_to(mail.first + mail.count);
}

Inbox InboxBuilder::finish(PendingMessages& pending) {
  pending.take_before(horizon_,
                      [&](const MessagePlace& place, const std::byte* data) { take(place, data); });
  const std::size_t count = entries_.size();
  sorted_.resize(std::max(sorted_.size(), count));
  if (count > 1 && count <= most_ranked) {
    rank();
  } else {
    std::sort(entries_.begin(), entries_.end());
    for (std::size_t i = 0; i < count; ++i) sorted_[i] = entries_[i].message;
  }
  return Inbox(sorted_).first(count);
}

/// Ranks by the bits of the arrival that a key has room for; what is too close together for that
/// is put in order one by one.
void InboxBuilder::rank() {
  static const CountLesser count_lesser = lesser_counters().back();
  const std::size_t count = entries_.size();
  const auto span = static_cast<std::uint64_t>((horizon_ - reached_).femtoseconds());
  const int cut = std::max(0, static_cast<int>(std::bit_width(span)) - arrival_bits);
  RankKeys keys, ranks, ordered;
  for (std::size_t i = 0; i < count; ++i) {
    const auto since = static_cast<std::uint64_t>((entries_[i].arrival - reached_).femtoseconds());
    keys[i] = static_cast<std::int32_t>((since >> cut) * most_ranked + i);
  }
  count_lesser(keys, count, ranks);
  for (std::size_t i = 0; i < count; ++i) ordered[static_cast<std::size_t>(ranks[i])] = keys[i];

  const auto entry = [&](std::size_t at) -> const Entry& {
    return entries_[static_cast<std::size_t>(ordered[at]) % most_ranked];
  };
  const auto close = [&](std::size_t at) {
    return (ordered[at] ^ ordered[at - 1]) < std::int32_t{most_ranked};
  };
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t at = i; at > 0 && close(at) && entry(at) < entry(at - 1); --at)
      std::swap(ordered[at], ordered[at - 1]);
  }
  for (std::size_t i = 0; i < count; ++i) sorted_[i] = entry(i).message;
}

}  // namespace lockstep
