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

void SharedPages::Page::end_claim() {
  claim = nobody;
  asked = as_copy = mapped = fetched = awaited = false;
}

std::uint32_t SharedPages::home_of(const Buffer& buffer, std::uint64_t unit) const {
  const Page& page = buffer.pages[unit];
  const std::uint64_t owners = page.there & ~page.maps;
  if (page.copies != 0 || page.recalled || !std::has_single_bit(owners)) return none;
  const auto owner = static_cast<std::uint32_t>(std::countr_zero(owners));
  return gpus_[owner]->is_resident(buffer.allocations[owner], unit) ? owner : none;
}

PeerFault SharedPages::fault_of(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu,
                                bool write, Time now) const {
  const std::uint32_t home = home_of(buffer, unit);
  const Page& page = buffer.pages[unit];
  const bool is_reachable = home != none && home != gpu && page.attracted != gpu &&
                            gpus_[gpu]->reaches(gpus_[home]->number());
  return {write, is_reachable, gpu, now, page.history};
}

void SharedPages::ask(std::uint64_t gpus, std::uint32_t buffer, std::uint64_t unit) {
  for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu)
    if ((gpus & bit(gpu)) != 0) asks_.push_back({gpu, buffer, unit});
}

bool SharedPages::may_come(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu, bool write,
                           bool as_copy, Time now) {
  Buffer& buffer = buffers_[number];
  Page& page = buffer.pages[unit];
  const PeerFault fault = fault_of(buffer, unit, gpu, write, now);
  const PeerWay way = policy_->way(fault);
  const bool alone = !as_copy || way == PeerWay::move;
  const bool mapped = way == PeerWay::map && fault.is_reachable && page.copies == 0 && !as_copy;
  const std::uint64_t others = mapped ? 0 : in_the_way(page, gpu, alone);
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
  if (!page.asked) note(buffer, unit, fault);
  page.asked = true;
  page.alone = alone;
  page.as_copy = as_copy;
  page.mapped = mapped;
  page.fetched = !as_copy && others != 0 && comes_over_fabric(buffer, unit, gpu);
  if (page.fetched) return true;
  ask(others, number, unit);
  return others == 0;
}

void SharedPages::note(Buffer& buffer, std::uint64_t unit, const PeerFault& fault) {
  PeerHistory& history = buffer.pages[unit].history;
  const PeerWay before = history.scheme;
  policy_->note(fault, history);
  if (history.scheme != before && policy_->spreads_schemes()) spread_scheme(buffer, unit);
}

/// Lets groups of 8, 64 and 512 units around a unit follow its scheme, as long as more than half of
/// a group have it: neighbouring-aware prediction.  Source: GRIT, HPCA 2024.
void SharedPages::spread_scheme(Buffer& buffer, std::uint64_t unit) {
  const PeerWay scheme = buffer.pages[unit].history.scheme;
  for (std::uint64_t size = 8; size <= 512; size *= 8) {
    const std::uint64_t first = unit / size * size;
    const std::uint64_t end = std::min<std::uint64_t>(first + size, buffer.pages.size());
    std::uint64_t same = 0;
    for (std::uint64_t u = first; u < end; ++u) same += buffer.pages[u].history.scheme == scheme;
    if (same * 2 <= size) return;
    for (std::uint64_t u = first; u < end; ++u) buffer.pages[u].history.scheme = scheme;
  }
}

bool SharedPages::is_to_be_mapped(std::uint32_t number, std::uint64_t unit,
                                  std::uint32_t gpu) const {
  const Page& page = buffers_[number].pages[unit];
  return page.claim == gpu && page.asked && page.mapped;
}

std::vector<FrameRun> SharedPages::borrow(std::uint32_t number, std::uint64_t unit) {
  const Buffer& buffer = buffers_[number];
  const std::uint32_t home = home_of(buffer, unit);
  LOCKSTEP_CHECK(home != none, "a page is mapped that is in no memory");
  return gpus_[home]->lend(buffer.allocations[home], unit);
}

bool SharedPages::recall(const SharedRange& range, std::uint32_t gpu) {
  bool any = false;
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    any |= page.read_at == gpu;
    if (page.maps == 0) continue;
    any = page.recalled = true;
    ask(page.maps, range.buffer, unit);
  }
  return any;
}

bool SharedPages::is_borrowed(const SharedRange& range, std::uint32_t gpu) const {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    const Page& page = buffers_[range.buffer].pages[unit];
    if (page.maps != 0 || page.read_at == gpu) return true;
  }
  return false;
}

bool SharedPages::attract(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu) {
  Page& page = buffers_[number].pages[unit];
  if (page.attracted != nobody || page.claim != nobody || page.recalled) return false;
  page.attracted = static_cast<std::uint8_t>(gpu);
  ask(bit(gpu), number, unit);
  return true;
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
  return page.claim == gpu && page.asked && !page.mapped && !page.fetched &&
         in_the_way(page, gpu, page.alone) != 0;
}

void SharedPages::coming(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    LOCKSTEP_CHECK(page.claim == nobody || page.claim == gpu, "a page comes to two GPUs at a time");
    if (page.claim == nobody) page.fetched = page.alone = false;
    page.claim = static_cast<std::uint8_t>(gpu);
    page.there |= bit(gpu);
    if (page.asked && page.mapped) page.maps |= bit(gpu);
    page.waiting &= ~bit(gpu);
  }
}

/// Asks the drivers and not the masks: the drivers know the page's place.
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
    page.attracted = nobody;
    page.end_claim();
    page.stays_until = now + policy_->stays(page.history);
    schedule(range.buffer, unit, page.stays_until);
  }
}

/// A GPU that has recalled the page meanwhile has asked in vain.
void SharedPages::came_mapped(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    page.end_claim();
    if (page.recalled) ask(bit(gpu), range.buffer, unit);
    schedule(range.buffer, unit, page.stays_until);
  }
}

void SharedPages::given_up(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    page.there &= ~bit(gpu);
    page.copies &= ~bit(gpu);
    page.maps &= ~bit(gpu);
    if (page.attracted == gpu) page.attracted = nobody;
    if (page.claim == gpu) page.end_claim();
    schedule(range.buffer, unit, Time::zero());
  }
}

void SharedPages::left(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    page.there &= ~bit(gpu);
    page.copies &= ~bit(gpu);
    page.maps &= ~bit(gpu);
    if (page.parked == gpu) page.parked = nobody;
    if (page.recalled && page.maps == 0) {
      page.recalled = false;
      woken_ |= page.there;
    }
    if (page.attracted != nobody) woken_ |= bit(page.attracted);
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

/// Gives the page to the next waiting GPU, counted from the GPU to which the page came last.
void SharedPages::grant(std::uint32_t buffer, std::uint64_t unit, Time now) {
  Page& page = buffers_[buffer].pages[unit];
  if (page.claim != nobody || page.waiting == 0) return;
  if (now < page.stays_until && page.there != 0) return schedule(buffer, unit, page.stays_until);
  const std::uint32_t from = page.last + 1u;
  const std::uint64_t behind = from < 64 ? page.waiting >> from << from : 0;
  const auto gpu =
      static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : page.waiting));
  page.end_claim();
  page.claim = static_cast<std::uint8_t>(gpu);
  page.waiting &= ~bit(gpu);
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
    offer_spilled(now, outbox);
    send_asks(now, outbox);
    const std::uint64_t woken = std::exchange(woken_, 0);
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu)
      if ((woken & bit(gpu)) != 0) gpus_[gpu]->reconsider(now, outbox);
  } while (next_activity() <= now || !asks_.empty() || !spilled_.empty() || woken_ != 0);
}

void SharedPages::Page::serialize(Archive& archive) {
  archive(there, copies, maps, waiting, stays_until, history, claim, last, parked, read_at,
          attracted, asked, alone, as_copy, mapped, recalled, fetched, awaited);
}

void SharedPages::Buffer::serialize(Archive& archive) {
  archive(tenant, declared, live, allocations, pages);
}

void SharedPages::serialize(Archive& archive) {
  archive.section("host/shared", 2);
  std::vector<Turn> turns(turns_.begin(), turns_.end());
  archive(buffers_, turns, parked_, flights_, free_flights_);
  turns_ = {turns.begin(), turns.end()};
}

}  // namespace lockstep
