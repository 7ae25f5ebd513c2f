#include "models/isa/interpreter/races/shared_races.hpp"

#include <algorithm>

#include "models/isa/lane_mask.hpp"

namespace lockstep::isa {

SharedRaces::SharedRaces(std::uint64_t block, std::uint32_t warps, RaceList& found)
    : block_(block), clocks_(warps), found_(found), fenced_(warps) {}

SharedRaces::Byte& SharedRaces::byte(std::uint32_t offset) {
  const std::uint32_t number = offset / page_bytes;
  if (number != last_number_) {
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    last_number_ = number;
    last_page_ = page.get();
  }
  return (*last_page_)[offset % page_bytes];
}

void SharedRaces::report(const Access& access, unsigned lane, std::uint32_t offset,
                         SharedRace::Side first) {
  found_.add({block_, offset, first, {access.kind, access.pc, access.warp * warp_size + lane}});
}

void SharedRaces::check_write(const Access& access, unsigned lane, std::uint32_t offset,
                              const Byte& byte, const std::byte* value) {
  const Write& write = byte.write;
  if (write.time == 0 || (write.is_strong && access.is_strong) ||
      clocks_.comes_after(access.warp, lane, write.warp, write.lane, write.time))
    return;
  if (value != nullptr && write.kind == AccessKind::store && *value == write.value) return;
  report(access, lane, offset, {write.kind, write.pc, write.warp * warp_size + write.lane});
}

void SharedRaces::check_reads(const Access& access, unsigned lane, std::uint32_t offset,
                              const Byte& byte) {
  for (const Read& read : byte.reads) {
    if (read.is_strong && access.is_strong) continue;
    std::uint32_t others = 0;
    for_each_lane(read.lanes, [&](unsigned other) {
      if (!clocks_.comes_after(access.warp, lane, read.warp, other, read.time))
        others |= 1u << other;
    });
    if (others == 0) continue;
    const auto other = static_cast<unsigned>(std::countr_zero(others));
    report(access, lane, offset, {AccessKind::load, read.pc, read.warp * warp_size + other});
    return;
  }
}

void SharedRaces::note_read(const Access& access, unsigned lane, Byte& byte) {
  const WarpClocks::Time now = clocks_.now(access.warp);
  const Read mine{now, access.pc, 1u << lane, static_cast<std::uint8_t>(access.warp),
                  access.is_strong};
  for (Read& read : byte.reads) {
    if (read.warp != access.warp) continue;
    const std::uint32_t before =
        read.time == now && read.is_strong == mine.is_strong ? read.lanes : 0;
    read = mine;
    read.lanes |= before;
    return;
  }
  byte.reads.push_back(mine);
}

void SharedRaces::access(const Access& access, unsigned lane, std::uint32_t offset, unsigned bytes,
                         const std::byte* value) {
  for (unsigned b = 0; b < bytes; ++b) {
    Byte& at = byte(offset + b);
    check_write(access, lane, offset + b, at, value == nullptr ? nullptr : value + b);
    if (access.kind == AccessKind::load) {
      note_read(access, lane, at);
      continue;
    }
    check_reads(access, lane, offset + b, at);
    at.reads.clear();
    at.write = {clocks_.now(access.warp),
                access.pc,
                static_cast<std::uint8_t>(access.warp),
                static_cast<std::uint8_t>(lane),
                access.kind,
                access.is_strong,
                value == nullptr ? std::byte{} : value[b]};
  }
}

void SharedRaces::before_strong(const Access& access, std::uint64_t place) {
  for (const std::uint64_t each : {place, other_places}) {
    const auto found = places_.find(each);
    if (found != places_.end()) clocks_.learn(access.warp, found->second);
  }
}

void SharedRaces::after_strong(const Access& access, std::uint64_t place, bool releases) {
  const WarpClocks::Knowledge& fenced = fenced_[access.warp];
  if (access.kind == AccessKind::load || (!releases && fenced.empty())) return;
  if (places_.size() >= most_places && !places_.contains(place)) place = other_places;
  WarpClocks::Knowledge& there = places_[place];
  if (releases) return clocks_.teach(access.warp, there);
  there.resize(fenced.size());
  for (std::size_t w = 0; w < there.size(); ++w) there[w] = std::max(there[w], fenced[w]);
}

}  // namespace lockstep::isa
