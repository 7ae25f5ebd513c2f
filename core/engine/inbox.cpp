#include "core/engine/inbox.hpp"

#include <algorithm>
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

void sort_some(InboxEntry* first, InboxEntry* last) {
  if (last - first <= 24) {
    if (last - first > 1) insertion_sort(first, last);
  } else {
    std::sort(first, last);
  }
}

[[noreturn]] void late_message(const MessageHeader& message, Time reached) {
  throw LateMessage(message.link,
                    "arrives at " + to_text(message.arrival) + ", but its receiver stands at " +
                        to_text(reached) + " already (" +
                        std::to_string((reached - message.arrival).femtoseconds()) + " fs late)");
}

}  // namespace

void PendingMessages::keep(std::span<const std::byte> messages) {
  if (waiting_.empty()) {
    bytes_.clear();
    live_ = 0;
  } else if (bytes_.bytes().size() > 2 * live_ + 4096) {
    compact();
  }
  const auto begin = static_cast<std::uint32_t>(bytes_.bytes().size());
  std::memcpy(bytes_.append(messages.size()), messages.data(), messages.size());
  live_ += messages.size();
  for_each_message(messages, [&](const MessageHeader& message) {
    const auto* place = reinterpret_cast<const std::byte*>(&message);
    const auto offset = begin + static_cast<std::uint32_t>(place - messages.data());
    waiting_.push_back({message.arrival, InboxEntry::order_of(message), offset,
                        static_cast<std::uint32_t>(message.total_bytes())});
    earliest_ = std::min(earliest_, message.arrival);
  });
}

void PendingMessages::take_before(Time horizon, std::vector<InboxEntry>& taken) {
  if (earliest_ >= horizon) return;
  earliest_ = Time::never();
  std::size_t kept = 0;
  for (const Waiting& waiting : waiting_) {
    if (waiting.arrival < horizon) {
      taken.push_back(entry(waiting));
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
  for (const Waiting& waiting : waiting_) entries.push_back(entry(waiting));
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// In place: what waits stands in the order in which it came.
void PendingMessages::compact() {
  std::size_t end = 0;
  for (Waiting& waiting : waiting_) {
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
    const std::byte* later = nullptr;
    const auto keep_up_to = [&](const std::byte* end) {
      if (later) pending.keep({later, end});
      later = nullptr;
    };
    for_each_message(buffer.bytes(), [&](const MessageHeader& message) {
      if (message.arrival < reached) [[unlikely]]
        late_message(message, reached);
      const auto* place = reinterpret_cast<const std::byte*>(&message);
      if (message.arrival < horizon) {
        keep_up_to(place);
        entries_.push_back(InboxEntry::of(message));
      } else if (!later) {
        later = place;
      }
    });
    keep_up_to(buffer.data + buffer.size);
  }
  pending.take_before(horizon, entries_);
  sort();
  sorted_.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) sorted_[i] = entries_[i].message;
  return sorted_;
}

/// Buckets by arrival, about one entry each, then the little that is left inside the buckets.
void InboxBuilder::sort() {
  if (entries_.size() <= 24) {
    sort_some(entries_.data(), entries_.data() + entries_.size());
    return;
  }
  Time first = Time::never();
  Time last = Time::zero();
  bool sorted = true;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    first = std::min(first, entries_[i].arrival);
    last = std::max(last, entries_[i].arrival);
    sorted = sorted && (i == 0 || entries_[i - 1] < entries_[i]);
  }
  if (sorted) return;

  const auto span = static_cast<std::uint64_t>((last - first).femtoseconds());
  const int shift = std::max(0, static_cast<int>(std::bit_width(span)) -
                                    static_cast<int>(std::bit_width(entries_.size())));
  const auto bucket = [&](const InboxEntry& entry) {
    return static_cast<std::size_t>((entry.arrival - first).femtoseconds() >> shift);
  };
  buckets_.assign((span >> shift) + 2, 0);
  for (const InboxEntry& entry : entries_) ++buckets_[bucket(entry) + 1];
  for (std::size_t i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
  scattered_.resize(entries_.size());
  for (const InboxEntry& entry : entries_) scattered_[buckets_[bucket(entry)]++] = entry;
  // buckets_[b] is now the end of bucket b.
  std::uint32_t begin = 0;
  for (std::size_t b = 0; b + 1 < buckets_.size(); ++b) {
    sort_some(scattered_.data() + begin, scattered_.data() + buckets_[b]);
    begin = buckets_[b];
  }
  entries_.swap(scattered_);
}

}  // namespace lockstep
