/// Answers: fills, acknowledgements, results of atomics.
///
/// Bytes are touched in the order in which messages arrive; when they can be used follows from the
/// reception port and the fill latency.
/// Source: architecture.md, section 8, rules 1, 3 and 5.
#include <algorithm>
#include <cstring>

#include "models/sm/access/lane_data.hpp"
#include "models/sm/ports/request_tag.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

void SmState::on_response(const MessageHeader& message, std::int64_t now) {
  const auto& response = message.body<MemoryResponse>();
  const bool host = RequestTag::host(response.tag);
  const std::uint32_t source = host ? port.host() : setup.mapping.partition(response.line);
  port.credit(source, time_of(now), *outbox);
  const Time complete = reception.receive(message.arrival, message.payload_bytes);
  const std::uint16_t index = RequestTag::index(response.tag);
  switch (RequestTag::kind(response.tag)) {
    case RequestTag::fill:
      on_fill(response, index, message.payload_data(), usable_at(complete), now);
      break;
    case RequestTag::atomic:
      on_atomic(index, message.payload_data(), usable_at(complete), now);
      break;
    case RequestTag::store:
      acknowledged(index, now);
      break;
    case RequestTag::write_back:
      break;
  }
  if (queue_stalled) wake_queue(now);
}

std::int64_t SmState::usable_at(Time complete) const {
  return clock.cycle_at_or_after(complete).count() + parameters.l1.fill_latency.count();
}

void SmState::on_fill(const MemoryResponse& response, std::uint16_t index, const std::byte* payload,
                      std::int64_t usable, std::int64_t now) {
  // All four sectors in their places; those not answered are not looked at.
  alignas(16) std::array<std::byte, line_bytes> expanded;
  const std::byte* line = payload;
  if (response.sectors != 0xf) {
    unsigned i = 0;
    for (unsigned sector = 0; sector < 4; ++sector)
      if ((response.sectors >> sector) & 1)
        std::memcpy(expanded.data() + sector * sector_bytes, payload + sector_bytes * i++,
                    sector_bytes);
    line = expanded.data();
  }
  Miss& miss = misses[index];
  miss.pending &= static_cast<std::uint8_t>(~response.sectors);
  if (miss.open && (miss.local || miss.epoch == l1.epoch()))
    cache_fill(miss, response.sectors, line, usable, now);

  std::uint16_t* place = &miss.first;
  std::uint16_t last = MissTable::none;
  while (*place != MissTable::none) {
    const std::uint16_t w = *place;
    Waiter& waiter = misses.waiter(w);
    const auto here = static_cast<std::uint8_t>(waiter.missing & response.sectors);
    if (here != 0) hand_over(w, here, line);
    waiter.missing &= static_cast<std::uint8_t>(~here);
    waiter.whole = waiter.whole && here == 0;
    if (waiter.missing != 0) {
      last = w;
      place = &waiter.next;
      if (here != 0) {
        Flight& flight = flights[waiter.flight];
        flight.ready = std::max(flight.ready, usable);
      }
      continue;
    }
    *place = waiter.next;
    --miss.waiters;
    const std::uint16_t flight = waiter.flight;
    misses.give_back_waiter(w);
    answered(flight, usable, now);
  }
  miss.last = last;
  if (miss.pending == 0) {
    if (miss.line != L1Cache::none) l1.line(miss.line).reserved = false;
    const std::uint16_t shootdown = miss.shootdown;
    misses.give_back(index);
    if (shootdown != TranslationUnit::none) [[unlikely]]
      shootdown_request_done(shootdown, now);
  }
}

void SmState::hand_over(std::uint16_t index, std::uint8_t sectors, const std::byte* line) {
  const Waiter& waiter = misses.waiter(index);
  std::uint32_t lanes = waiter.lanes;
  if (lanes == 0) return;
  const Flight& flight = flights[waiter.flight];
  const Warp& warp = warps[flight.warp];
  const isa::Instruction& instruction = grids[warp.grid].instructions[flight.pc];
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned stride = lane_bytes(instruction.memory);
  const bool all = sectors == waiter.missing && waiter.whole;
  if (!all) {
    unsigned offset = waiter.first_offset;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1, offset += stride) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
      if (!waiter.contiguous) offset = misses.offsets(index)[lane];
      if (!((sectors >> (offset / sector_bytes)) & 1)) lanes &= ~(1u << lane);
    }
    if (lanes == 0) return;
  }
  if (waiter.local) {
    scatter_part(instruction, context_of(warp), lanes, line, misses.offsets(index).data(),
                 waiter.part);
  } else if (waiter.contiguous) {
    const unsigned skipped = static_cast<unsigned>(std::countr_zero(lanes)) - first;
    scatter_contiguous(instruction, context_of(warp), lanes,
                       line + waiter.first_offset + skipped * stride);
  } else {
    scatter_load(instruction, context_of(warp), lanes, line, misses.offsets(index).data());
  }
}

void SmState::cache_fill(Miss& miss, std::uint8_t sectors, const std::byte* data,
                         std::int64_t usable, std::int64_t now) {
  std::uint16_t line = miss.line != L1Cache::none ? miss.line : l1.find(miss.tag);
  if (line == L1Cache::none) line = make_room(miss.tag, miss.local, now);
  if (line == L1Cache::none) return;
  L1Cache::Line& l = l1.line(line);
  if (miss.local) {
    L1Cache::DirtyBytes clean;
    for (unsigned sector = 0; sector < 4; ++sector) clean[sector] = ~l1.dirty(line)[sector];
    merge_bytes(l1.data(line), data, clean, sectors);
  } else if (sectors == 0xf) {
    std::memcpy(l1.data(line), data, line_bytes);
  } else {
    for (unsigned sector = 0; sector < 4; ++sector)
      if ((sectors >> sector) & 1)
        std::memcpy(l1.data(line) + sector * sector_bytes, data + sector * sector_bytes,
                    sector_bytes);
  }
  l.valid |= sectors;
  l.ready = std::max(l.ready, usable - parameters.l1.fill_latency.count());
}

void SmState::on_atomic(std::uint16_t index, const std::byte* payload, std::int64_t usable,
                        std::int64_t now) {
  const Waiter& waiter = misses.waiter(index);
  const Flight& flight = flights[waiter.flight];
  const Warp& warp = warps[flight.warp];
  const isa::Instruction& instruction = grids[warp.grid].instructions[flight.pc];
  const unsigned bytes = 8 * atomic_shape(instruction).words();
  for (std::uint32_t left = waiter.lanes; left != 0; left &= left - 1, payload += bytes)
    write_elements(instruction, context_of(warp), static_cast<unsigned>(std::countr_zero(left)),
                   payload);
  const std::uint16_t store = waiter.store, of = waiter.flight;
  misses.give_back_waiter(index);
  answered(of, usable, now);
  acknowledged(store, now);
}

void SmState::answered(std::uint16_t index, std::int64_t usable, std::int64_t now) {
  Flight& flight = flights[index];
  flight.ready = std::max(flight.ready, usable);
  if (--flight.outstanding == 0) flight_done(index, now);
}

void SmState::flight_done(std::uint16_t index, std::int64_t now) {
  // Not copied: this computer would wait for the narrow store of `outstanding`.
  const Flight& flight = flights[index];
  flights.give_back(index);
  Warp& warp = warps[flight.warp];
  const IssueRecord& record = warp.records[flight.pc];
  const std::int64_t when = std::max(flight.ready, now + 1);
  for (unsigned i = 0; i < record.releases; ++i)
    wheel.add(when, WarpEvent::with_warp(record.release[i], flight.warp));
  --warp.flights;
  if (flight.acquires) {
    l1.drop_clean();
    wheel.add(when, WarpEvent::with_warp(WarpEvent::resume, flight.warp));
  }
  if ((waits(StallCause::drain) & bit(flight.warp)) && warp.flights == 0)
    end_wait(StallCause::drain, flight.warp, now);
}

}  // namespace lockstep
