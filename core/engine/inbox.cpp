#include "core/engine/inbox.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/engine/failure.hpp"
#include "core/time/format.hpp"

namespace lockstep {
namespace {

/// A stable order of few entries, or of many that are nearly in order.
void insertion_sort(InboxEntry* first, InboxEntry* last) {
  for (InboxEntry* next = first + 1; next < last; ++next) {
    if (!(*next < next[-1])) continue;
    const InboxEntry moving = *next;
    InboxEntry* hole = next;
    do {
      *hole = hole[-1];
      --hole;
    } while (hole > first && moving < hole[-1]);
    *hole = moving;
  }
}

constexpr std::size_t most_ranked = 128;

using Keys = std::array<std::int32_t, most_ranked>;

/// ranks[i] = how many of `count` keys are less than keys[i]: every key is compared with every
/// other, so that no branch depends on them.
void count_lesser(const Keys& keys, std::size_t count, Keys& ranks) {
  using Four [[gnu::vector_size(16)]] = std::int32_t;  // what any machine compares in one step
  using Block = std::array<Four, 4>;
  constexpr std::size_t lanes = sizeof(Block) / sizeof(std::int32_t);
  for (std::size_t i = 0; i < count; i += lanes) {
    Block own, lesser{};
    std::memcpy(&own, &keys[i], sizeof own);
    for (std::size_t j = 0; j < count; ++j) {
      const Four other{keys[j], keys[j], keys[j], keys[j]};
      for (std::size_t k = 0; k < own.size(); ++k) lesser[k] -= other < own[k];
    }
    std::memcpy(&ranks[i], &lesser, sizeof lesser);
  }
}

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

void PendingMessages::take_before(Time horizon, std::vector<InboxEntry>& taken) {
  if (earliest_ >= horizon) return;
  earliest_ = Time::never();
  std::size_t kept = 0;
  for (const MessagePlace& waiting : waiting_) {
    if (waiting.arrival < horizon) {
      taken.push_back(InboxEntry::of(waiting, bytes_.bytes().data()));
      live_ -= waiting.size;
    } else {
      earliest_ = std::min(earliest_, waiting.arrival);
      waiting_[kept++] = waiting;
    }
  }
  waiting_.resize(kept);
}

std::vector<InboxEntry> PendingMessages::sorted() const {
  std::vector<InboxEntry> entries;
  for (const MessagePlace& waiting : waiting_)
    entries.push_back(InboxEntry::of(waiting, bytes_.bytes().data()));
  std::sort(entries.begin(), entries.end());
  return entries;
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

Inbox InboxBuilder::build(PendingMessages& pending, std::span<const OpenedBuffer> mail,
                          Time horizon, Time reached) {
  entries_.clear();
  // New messages first: keeping the later ones may move what is pending.
  for (const OpenedBuffer& buffer : mail) {
    // What comes later stands together: most senders send in the order of time.
    const MessagePlace* later = nullptr;
    const auto keep_up_to = [&](const MessagePlace* end) {
      if (later) pending.keep(buffer.data, {later, end});
      later = nullptr;
    };
    for (const MessagePlace& place : buffer.places()) {
      if (place.arrival < reached) [[unlikely]]
        late_message(place, reached);
      if (place.arrival < horizon) {
        keep_up_to(&place);
        entries_.push_back(InboxEntry::of(place, buffer.data));
      } else if (!later) {
        later = &place;
      }
    }
    keep_up_to(buffer.first + buffer.count);
  }
  pending.take_before(horizon, entries_);
  if (entries_.size() > 1) sort(reached);
  sorted_.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) sorted_[i] = entries_[i].message;
  return sorted_;
}

/// Puts every entry where the rank of its arrival says, cut to the bits that matter, then those
/// in order that are too close together for that.
void InboxBuilder::sort(Time reached) {
  constexpr int arrival_bits = 24, index_bits = 7;
  static_assert(most_ranked == 1 << index_bits);
  const std::size_t count = entries_.size();
  if (count > most_ranked) return std::sort(entries_.begin(), entries_.end());
  Time last = reached;
  for (const InboxEntry& entry : entries_) last = std::max(last, entry.arrival);
  const auto span = static_cast<std::uint64_t>((last - reached).femtoseconds());
  const int cut = std::max(0, static_cast<int>(std::bit_width(span)) - arrival_bits);
  Keys keys, ranks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t arrival = (entries_[i].arrival - reached).femtoseconds() >> cut;
    keys[i] = static_cast<std::int32_t>(arrival << index_bits) | static_cast<std::int32_t>(i);
  }
  count_lesser(keys, count, ranks);
  scattered_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    scattered_[static_cast<std::size_t>(ranks[i])] = entries_[i];
  insertion_sort(scattered_.data(), scattered_.data() + count);
  entries_.swap(scattered_);
}

}  // namespace lockstep
