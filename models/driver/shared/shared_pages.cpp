#include "models/driver/shared/shared_pages.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"

namespace lockstep {

std::uint32_t SharedPages::join(Gpu& gpu) {
  gpus_.push_back(&gpu);
  return static_cast<std::uint32_t>(gpus_.size() - 1);
}

std::uint32_t SharedPages::add(std::uint32_t tenant, std::uint32_t declared, std::uint32_t gpu,
                               std::uint32_t allocation, std::uint64_t units) {
  auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return buffer.live != 0 && buffer.tenant == tenant && buffer.declared == declared;
  });
  if (found == buffers_.end()) {
    found = std::find_if(buffers_.begin(), buffers_.end(),
                         [](const Buffer& buffer) { return buffer.live == 0; });
    if (found == buffers_.end()) found = buffers_.insert(buffers_.end(), Buffer{});
    *found = {tenant, declared, 0, std::vector<std::uint32_t>(gpus_.size()),
              std::vector<Page>(units)};
  }
  found->live |= bit(gpu);
  found->allocations[gpu] = allocation;
  return static_cast<std::uint32_t>(found - buffers_.begin());
}

void SharedPages::remove(std::uint32_t number, std::uint32_t gpu) {
  Buffer& buffer = buffers_[number];
  buffer.live &= ~bit(gpu);
  if (buffer.live != 0) return;
  buffer.pages.clear();
  std::erase_if(turns_, [&](const Turn& turn) { return turn.buffer == number; });
}

bool SharedPages::may_come(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu, bool write,
                           bool as_copy, Time now) {
  Page& page = buffers_[number].pages[unit];
  const bool alone = !as_copy || policy_->way({write}) == PeerWay::move;
  const std::uint64_t others = in_the_way(page, gpu, alone);
  if (page.claim != gpu) {
    const bool is_taken = page.claim != nobody || (page.waiting & ~bit(gpu)) != 0;
    if (is_taken || (now < page.stays_until && others != 0)) {
      page.waiting |= bit(gpu);
      if (page.claim == nobody) schedule(number, unit, page.stays_until);
      return false;
    }
    page.claim = static_cast<std::uint8_t>(gpu);
    page.waiting &= ~bit(gpu);
  }
  page.asked = true;
  page.alone = alone;
  for (std::uint32_t other = 0; other < gpus_.size(); ++other)
    if ((others & bit(other)) != 0) asks_.push_back({other, number, unit});
  return others == 0;
}

bool SharedPages::is_free(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu,
                          bool as_copy) const {
  const Page& page = buffers_[number].pages[unit];
  const bool is_claimed = page.claim != nobody && page.claim != gpu;
  return !is_claimed && page.waiting == 0 && in_the_way(page, gpu, !as_copy) == 0;
}

bool SharedPages::waits(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu) const {
  const Page& page = buffers_[number].pages[unit];
  if ((page.waiting & bit(gpu)) != 0) return true;
  return page.claim == gpu && page.asked && in_the_way(page, gpu, page.alone) != 0;
}

void SharedPages::coming(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    LOCKSTEP_CHECK(page.claim == nobody || page.claim == gpu, "a page comes to two GPUs at a time");
    page.claim = static_cast<std::uint8_t>(gpu);
    page.there |= bit(gpu);
    page.waiting &= ~bit(gpu);
  }
}

/// Asks the drivers, not the masks: they know where the page is.
void SharedPages::check_alone(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu) const {
  for (std::uint32_t other = 0; other < gpus_.size(); ++other)
    LOCKSTEP_CHECK(other == gpu || (buffer.live & bit(other)) == 0 ||
                       gpus_[other]->is_without(buffer.allocations[other], unit),
                   "a page that a GPU may store to is on another one, too");
}

void SharedPages::came(const SharedRange& range, std::uint32_t gpu, bool as_copy, Time now) {
  Buffer& buffer = buffers_[range.buffer];
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffer.pages[unit];
    if (as_copy) {
      page.copies |= bit(gpu);
    } else {
      page.copies &= ~bit(gpu);
      check_alone(buffer, unit, gpu);
    }
    page.last = static_cast<std::uint8_t>(gpu);
    page.claim = nobody;
    page.asked = false;
    page.stays_until = now + policy_->stays();
    schedule(range.buffer, unit, page.stays_until);
  }
}

void SharedPages::given_up(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    page.there &= ~bit(gpu);
    page.copies &= ~bit(gpu);
    if (page.claim == gpu) {
      page.claim = nobody;
      page.asked = false;
    }
    schedule(range.buffer, unit, Time::zero());
  }
}

void SharedPages::left(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    page.there &= ~bit(gpu);
    page.copies &= ~bit(gpu);
    if (page.claim != nobody) {
      woken_ |= bit(page.claim);
    } else {
      schedule(range.buffer, unit, Time::zero());
    }
  }
}

void SharedPages::schedule(std::uint32_t buffer, std::uint64_t unit, Time when) {
  if (buffers_[buffer].pages[unit].waiting != 0) turns_.insert({when, buffer, unit});
}

/// The next one, counted from the GPU to which the page came last.
void SharedPages::grant(std::uint32_t buffer, std::uint64_t unit, Time now) {
  Page& page = buffers_[buffer].pages[unit];
  if (page.claim != nobody || page.waiting == 0) return;
  if (now < page.stays_until && page.there != 0) return schedule(buffer, unit, page.stays_until);
  const std::uint32_t from = page.last + 1u;
  const std::uint64_t behind = from < 64 ? page.waiting >> from << from : 0;
  const auto gpu =
      static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : page.waiting));
  page.claim = static_cast<std::uint8_t>(gpu);
  page.waiting &= ~bit(gpu);
  page.asked = false;
  woken_ |= bit(gpu);
}

Time SharedPages::next_activity() const {
  return turns_.empty() ? Time::never() : turns_.begin()->when;
}

void SharedPages::send_asks(Time now, Outbox& outbox) {
  std::vector<Ask> asks = std::exchange(asks_, {});
  std::sort(asks.begin(), asks.end());
  asks.erase(std::unique(asks.begin(), asks.end()), asks.end());
  for (std::size_t i = 0; i < asks.size();) {
    const Ask& first = asks[i];
    std::uint64_t count = 1;
    while (i + count < asks.size() &&
           asks[i + count] == Ask{first.gpu, first.buffer, first.unit + count})
      ++count;
    i += count;
    const Buffer& buffer = buffers_[first.buffer];
    if ((buffer.live & bit(first.gpu)) == 0) continue;
    gpus_[first.gpu]->give_away(buffer.allocations[first.gpu], first.unit, count, now, outbox);
  }
}

void SharedPages::act(Time now, Outbox& outbox) {
  do {
    while (next_activity() <= now) {
      const Turn turn = *turns_.begin();
      turns_.erase(turns_.begin());
      grant(turn.buffer, turn.unit, now);
    }
    send_asks(now, outbox);
    const std::uint64_t woken = std::exchange(woken_, 0);
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu)
      if ((woken & bit(gpu)) != 0) gpus_[gpu]->reconsider(now);
  } while (next_activity() <= now || !asks_.empty() || woken_ != 0);
}

void SharedPages::Page::serialize(Archive& archive) {
  archive(there, copies, waiting, stays_until, claim, last, asked, alone);
}

void SharedPages::Buffer::serialize(Archive& archive) {
  archive(tenant, declared, live, allocations, pages);
}

void SharedPages::serialize(Archive& archive) {
  archive.section("host/shared", 1);
  std::vector<Turn> turns(turns_.begin(), turns_.end());
  archive(buffers_, turns);
  turns_ = {turns.begin(), turns.end()};
}

}  // namespace lockstep
