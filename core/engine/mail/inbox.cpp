#include "core/engine/mail/inbox.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "core/engine/failure.hpp"
#include "core/memory/round_up.hpp"
#include "core/time/format.hpp"

namespace lockstep {
namespace {

constexpr int arrival_bits = 23;
static_assert((std::uint64_t{most_ranked} << arrival_bits) == std::uint64_t{1} << 31);
constexpr std::int32_t behind_all = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void late_message(const MessagePlace& message, Time reached) {
  throw LateMessage(message.link(),
                    "arrives at " + to_text(message.arrival) + ", but its receiver stands at " +
                        to_text(reached) + " already (" +
                        std::to_string((reached - message.arrival).femtoseconds()) + " fs late)");
}

}  // namespace

void PendingMessages::keep(MessagePlace place, const std::byte* message) {
  if (waiting_.empty()) {
    bytes_.clear();
    live_ = 0;
  } else if (bytes_.bytes().size() > 2 * live_ + 4096) {
    compact();
  }
  const auto to = static_cast<std::uint32_t>(bytes_.bytes().size());
  std::memcpy(bytes_.append(place.size), message, place.size);
  live_ += place.size;
  place.offset = to;
  waiting_.push_back(place);
  earliest_ = std::min(earliest_, place.arrival);
}

template <class Action>
void PendingMessages::take_before(Time horizon, Action&& action) {
  if (earliest_ >= horizon) return;
  earliest_ = Time::never();
  std::size_t kept = 0;
  for (const MessagePlace& waiting : waiting_) {
    if (waiting.arrival < horizon) {
      action(waiting, bytes_.bytes().data() + waiting.offset);
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

/// Compacts in place: waiting messages stay in the order in which they came.
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
  count_ = 0;
}

void InboxBuilder::add(const Mail& mail, PendingMessages& pending) {
  make_room(mail.count);
  // Local copies: a loop over members would load them again after every entry that it writes.
  const Time reached = reached_, horizon = horizon_;
  Entry* next = entries_.data() + count_;
  mail.for_each([&](const MessagePlace& place, const std::byte* message) {
    if (place.arrival < reached) [[unlikely]]
      late_message(place, reached);
    if (place.arrival < horizon) {
      *next++ = Entry(place, message);
    } else {
      pending.keep(place, message);
    }
  });
  count_ = static_cast<std::size_t>(next - entries_.data());
}

Inbox InboxBuilder::finish(PendingMessages& pending) {
  make_room(pending.size());
  pending.take_before(horizon_, [&](const MessagePlace& place, const std::byte* message) {
    entries_[count_++] = Entry(place, message);
  });
  if (count_ <= 1) {
    sorted_[0] = entries_[0].message;
  } else if (count_ == 2) {
    const bool exchanged = entries_[1] < entries_[0];
    sorted_[exchanged] = entries_[0].message;
    sorted_[!exchanged] = entries_[1].message;
  } else if (count_ <= most_ranked) {
    rank();
  } else {
    std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count_));
    for (std::size_t i = 0; i < count_; ++i) sorted_[i] = entries_[i].message;
  }
  return Inbox(sorted_).first(count_);
}

/// Ranks messages by the bits of the arrival that fit into a key. Messages that are too close
/// together for these bits are ordered one by one.
void InboxBuilder::rank() {
  const auto span = static_cast<std::uint64_t>((horizon_ - reached_).femtoseconds());
  const int cut = std::max(0, static_cast<int>(std::bit_width(span)) - arrival_bits);
  const std::size_t count = round_up(count_, ranked_at_once);
  for (std::size_t i = 0; i < count; ++i) {
    const auto since = static_cast<std::uint64_t>((entries_[i].arrival - reached_).femtoseconds());
    keys_[i] =
        i < count_ ? static_cast<std::int32_t>((since >> cut) * most_ranked + i) : behind_all;
  }
  count_lesser_(keys_, count, ranks_);
  for (std::size_t i = 0; i < count; ++i) ordered_[static_cast<std::size_t>(ranks_[i])] = keys_[i];

  const auto entry = [&](std::size_t at) -> const Entry& {
    return entries_[static_cast<std::size_t>(ordered_[at]) % most_ranked];
  };
  const auto close = [&](std::size_t at) {
    return (ordered_[at] ^ ordered_[at - 1]) < std::int32_t{most_ranked};
  };
  for (std::size_t i = 0; i < count_; ++i) {
    sorted_[i] = entry(i).message;
    for (std::size_t at = i; at > 0 && close(at) && entry(at) < entry(at - 1); --at) {
      std::swap(ordered_[at], ordered_[at - 1]);
      std::swap(sorted_[at], sorted_[at - 1]);
    }
  }
}

}  // namespace lockstep
