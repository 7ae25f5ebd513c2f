#include "models/sm/load_store/answers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "models/sm/access/lane_data.hpp"
#include "models/sm/load_store/acknowledged.hpp"
#include "models/sm/load_store/delivery.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

void Answers::receive(const MessageHeader& message, SmCycle now) {
  const auto& response = message.body<MemoryResponse>();
  const Destination source =
      ports_.destination_of(PhysicalAddress(response.line), RequestTag::host(response.tag));
  const Time complete = ports_.receive(source, message.arrival, message.payload_bytes, now);
  const auto usable = [&] {
    return constants_.cycle_at_or_after(complete) + constants_.parameters.l1.fill_latency.count();
  };
  ports_.marks().answered(response, now);
  const std::uint16_t index = RequestTag::index(response.tag);
  switch (RequestTag::kind(response.tag)) {
    case RequestTag::fill:
      fill(response, index, message.payload_data(), usable(), now);
      break;
    case RequestTag::atomic:
      atomic_done(index, message.payload_data(), usable(), now);
      break;
    case RequestTag::store:
      acknowledged(index, now);
      break;
    case RequestTag::write_back:
      l1_.written_back(PhysicalAddress(response.line));
      break;
    case RequestTag::context:
      contexts_.answered(response, message.payload_data(), usable(), now);
      break;
    case RequestTag::code:
      code_.answered(response, usable(), now);
      break;
    case RequestTag::constants:
      constant_cache_.answered(response, usable(), now);
      break;
  }
}

inline void Answers::fill(const MemoryResponse& response, std::uint16_t index,
                          const std::byte* payload, SmCycle usable, SmCycle now) {
  // All four sectors in their places; sectors without an answer are not used.
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
  MissTable& misses = l1_.misses();
  Miss& miss = misses[index];
  miss.pending &= static_cast<std::uint8_t>(~response.sectors);
  if (miss.open && (miss.local || miss.epoch == l1_.cache().epoch()))
    l1_.fill(miss, response.sectors, line, usable, now);

  std::uint16_t* place = &miss.first;
  std::uint16_t last = MissTable::none;
  while (*place != MissTable::none) {
    const std::uint16_t w = *place;
    Waiter& waiter = misses.waiter(w);
    const auto here = static_cast<std::uint8_t>(waiter.missing & response.sectors);
    if (here != 0) hand_over(w, here, line, now);
    waiter.missing &= static_cast<std::uint8_t>(~here);
    waiter.whole = waiter.whole && here == 0;
    if (waiter.missing != 0) {
      last = w;
      place = &waiter.next;
      if (here != 0) flights_.ready_at(waiter.flight, usable);
      continue;
    }
    *place = waiter.next;
    --miss.waiters;
    const std::uint16_t flight = waiter.flight;
    misses.give_back_waiter(w);
    flights_.answered(flight, usable, now);
  }
  miss.last = last;
  if (miss.pending != 0) return;
  if (miss.line != L1Cache::none) l1_.cache().line(miss.line).reserved = false;
  const std::uint16_t shootdown = miss.shootdown;
  misses.give_back(index);
  if (shootdown != Shootdowns::none) [[unlikely]]
    shootdowns_.request_done(shootdown, now);
}

inline void Answers::hand_over(std::uint16_t index, std::uint8_t sectors, const std::byte* line,
                               SmCycle now) {
  const MissTable& misses = l1_.misses();
  const Waiter& waiter = misses.waiter(index);
  std::uint32_t lanes = waiter.lanes;
  if (lanes == 0) return;
  const Flight& flight = flights_[waiter.flight];
  const Warp& warp = blocks_.warp(WarpSlot(flight.warp));
  const isa::Instruction& instruction = blocks_.instruction(warp, flight.pc);
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
  std::byte* const room = waiter.copies ? flights_.room_of(flight) : nullptr;
  deliver({.lanes = lanes,
           .first_lane = static_cast<std::uint8_t>(first),
           .first_offset = waiter.first_offset,
           .part = waiter.part,
           .local = waiter.local,
           .contiguous = waiter.contiguous && !waiter.local,
           .offsets = misses.offsets(index).data(),
           .copy = waiter.copies ? &misses.copy_target(index) : nullptr,
           .room = room},
          blocks_, warp, instruction, line);
  if (room != nullptr) [[unlikely]]
    flights_.bulk_lines()->bytes_came(flight.bulk, misses.copy_target(index), lanes, now);
}

void Answers::atomic_done(std::uint16_t index, const std::byte* payload, SmCycle usable,
                          SmCycle now) {
  MissTable& misses = l1_.misses();
  const Waiter& waiter = misses.waiter(index);
  const Flight& flight = flights_[waiter.flight];
  const Warp& warp = blocks_.warp(WarpSlot(flight.warp));
  const isa::Instruction& instruction = blocks_.instruction(warp, flight.pc);
  const unsigned bytes = 8 * atomic_shape(instruction).words();
  for (std::uint32_t left = waiter.lanes; left != 0; left &= left - 1, payload += bytes)
    write_elements(instruction, blocks_.context_of(warp),
                   static_cast<unsigned>(std::countr_zero(left)), payload);
  const std::uint16_t store = waiter.store, of = waiter.flight;
  misses.give_back_waiter(index);
  flights_.answered(of, usable, now);
  acknowledged(store, now);
}

void Answers::acknowledged(std::uint16_t index, SmCycle now) {
  const StoreRecord record = stores_.remove(index);
  if (record.shootdown != Shootdowns::none) [[unlikely]]
    shootdowns_.request_done(record.shootdown, now);
  if (record.bulk != BulkLines::none) [[unlikely]]
    flights_.bulk_lines()->line_acknowledged(record.bulk, now);
  const WarpSlot slot(record.warp);
  const BlockPlace place(blocks_.warp(slot).block);
  const BlockSlot& block = blocks_.block(place);
  if (!block.used || block.entry != record.entry) return acknowledged_late(record.grid, now);
  store_acknowledged(blocks_, front_end_, slot, place, record.phase, now);
}

void Answers::acknowledged_late(std::uint8_t place, SmCycle now) {
  if (!blocks_.under_way().left_store_ends(place)) return;
  ports_.tell_dispatcher(MessageKind::stores_done,
                         GridReference{blocks_.grid(place).launch.grid, constants_.setup.index},
                         now);
}

}  // namespace lockstep
