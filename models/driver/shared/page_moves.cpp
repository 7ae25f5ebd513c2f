/// Bytes of shared pages over the fabric, from GPU to GPU (see shared_pages.hpp).
///
/// A GPU that claims a page has frames for it before anybody gives the page up, so that nobody
/// waits for memory with a page in the hand.  The other GPU unmaps the page and keeps its frames
/// until its port has read them (park); a copy that several GPUs may have is read where it stays
/// (read_at).
#include <algorithm>

#include "core/error/error.hpp"
#include "core/memory/slots.hpp"
#include "models/driver/shared/shared_pages.hpp"

namespace lockstep {

bool SharedPages::comes_over_fabric(const Buffer& buffer, std::uint64_t unit,
                                    std::uint32_t gpu) const {
  if (policy_->parameters().pages_go == PageWay::host) return false;
  const std::uint32_t home = home_of(buffer, unit);
  return home != none && home != gpu && gpus_[home]->reaches(gpus_[gpu]->number());
}

std::uint32_t SharedPages::copy_for(const Buffer& buffer, std::uint64_t unit,
                                    std::uint32_t gpu) const {
  const Page& page = buffer.pages[unit];
  if (policy_->parameters().pages_go == PageWay::host || page.read_at != nobody) return none;
  for (std::uint32_t other = 0; other < gpus_.size(); ++other)
    if (other != gpu && (page.copies & bit(other)) != 0 &&
        gpus_[other]->is_resident(buffer.allocations[other], unit) &&
        gpus_[other]->reaches(gpus_[gpu]->number()))
      return other;
  return none;
}

bool SharedPages::all_have_left(const Page& page, std::uint32_t gpu) const {
  if (!page.fetched) return true;
  const std::uint64_t parked = page.parked == nobody ? 0 : bit(page.parked);
  return (in_the_way(page, gpu, page.alone) & ~parked) == 0;
}

bool SharedPages::is_ready(const SharedRange& range, std::uint32_t gpu) const {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit)
    if (!all_have_left(buffers_[range.buffer].pages[unit], gpu)) return false;
  return true;
}

bool SharedPages::fetch(const SharedRange& range, std::uint32_t gpu) {
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit) {
    Page& page = buffers_[range.buffer].pages[unit];
    if (!page.fetched) continue;
    page.awaited = true;
    ask(in_the_way(page, gpu, page.alone), range.buffer, unit);
  }
  return !is_ready(range, gpu);
}

bool SharedPages::is_awaited(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const {
  const Page& page = buffers_[buffer].pages[unit];
  return page.awaited && page.claim != gpu && page.parked == nobody;
}

void SharedPages::park(std::uint32_t buffer, std::uint64_t unit, Source source) {
  Page& page = buffers_[buffer].pages[unit];
  page.parked = static_cast<std::uint8_t>(source.gpu);
  woken_ |= bit(page.claim);
  parked_.emplace(std::pair{buffer, unit}, std::move(source));
}

std::optional<SharedPages::Source> SharedPages::take_source(std::uint32_t number,
                                                            std::uint64_t unit, std::uint32_t gpu) {
  if (const auto found = parked_.find({number, unit}); found != parked_.end()) {
    Source source = std::move(found->second);
    parked_.erase(found);
    return source;
  }
  const Buffer& buffer = buffers_[number];
  const std::uint32_t other = copy_for(buffer, unit, gpu);
  if (other == none) return std::nullopt;
  buffers_[number].pages[unit].read_at = static_cast<std::uint8_t>(other);
  return Source{other, Source::keeps, false, gpus_[other]->frames(buffer.allocations[other], unit)};
}

void SharedPages::send(std::uint32_t number, std::uint64_t unit, const Source& source,
                       std::uint32_t gpu, const std::vector<FrameRun>& to, std::uint32_t migration,
                       Time now, Outbox& outbox) {
  const std::uint32_t index = take_slot(flights_, free_flights_);
  flights_[index] = {source.gpu, gpu, source.departure, migration, number, unit, true};
  gpus_[source.gpu]->send(buffers_[number].allocations[source.gpu], source.frames, to,
                          gpus_[gpu]->number(), index, now, outbox);
}

void SharedPages::copied(std::uint64_t id, Time now, Outbox& outbox) {
  const Flight flight = std::exchange(flights_[id], Flight{});
  LOCKSTEP_CHECK(flight.is_used, "a page has come that was not sent");
  free_flights_.push_back(static_cast<std::uint32_t>(id));
  if (flight.departure != Source::keeps) {
    gpus_[flight.from]->was_read(flight.departure, now, outbox);
  } else {
    buffers_[flight.buffer].pages[flight.unit].read_at = nobody;
    woken_ |= bit(flight.from);
  }
  gpus_[flight.to]->has_come(flight.migration, now, outbox);
}

void SharedPages::spill(const SharedRange& range, std::uint32_t gpu) {
  if (policy_->parameters().spill == Spill::host) return;
  for (std::uint64_t unit = range.first; unit < range.first + range.count; ++unit)
    spilled_.push_back({gpu, range.buffer, unit});
}

/// Returns the GPUs that this one can reach, in the order in which they are tried.
std::vector<std::uint32_t> SharedPages::neighbours_of(const Buffer& buffer,
                                                      std::uint32_t gpu) const {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
  for (std::size_t step = 1; step < gpus_.size(); ++step) {
    const auto other = static_cast<std::uint32_t>((gpu + step) % gpus_.size());
    if ((buffer.live & bit(other)) == 0 || !gpus_[gpu]->reaches(gpus_[other]->number())) continue;
    std::uint64_t load = 0;
    if (policy_->parameters().spill == Spill::least_loaded)
      load = static_cast<std::uint64_t>(
          std::count_if(flights_.begin(), flights_.end(), [&](const Flight& flight) {
            return flight.is_used && (flight.to == other || flight.from == other);
          }));
    found.emplace_back(load, other);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::uint32_t> others;
  for (const auto& [load, other] : found) others.push_back(other);
  return others;
}

void SharedPages::offer_spilled(Time now, Outbox& outbox) {
  for (const Ask& one : std::exchange(spilled_, {})) {
    const Buffer& buffer = buffers_[one.buffer];
    if ((buffer.live & bit(one.gpu)) == 0) continue;
    for (const std::uint32_t other : neighbours_of(buffer, one.gpu)) {
      gpus_[other]->take_in(buffer.allocations[other], one.unit, now, outbox);
      if (buffer.pages[one.unit].claim != nobody) break;
    }
  }
}

/// Copies need no other place: the host has the same bytes.
bool SharedPages::claim_spilled(std::uint32_t number, std::uint64_t unit, std::uint32_t gpu) {
  Page& page = buffers_[number].pages[unit];
  const bool is_wanted = page.claim != nobody || page.waiting != 0 || page.attracted != nobody;
  if (is_wanted || page.copies != 0 || page.parked != nobody || (page.there & bit(gpu)) != 0 ||
      page.there == 0)
    return false;
  page.claim = static_cast<std::uint8_t>(gpu);
  page.asked = page.alone = page.fetched = true;
  return true;
}

}  // namespace lockstep
