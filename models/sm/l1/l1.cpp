#include "models/sm/l1/l1.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

L1::L1(const SmContext& sm)
    : constants_(sm.constants), statistics_(sm.statistics), blocks_(sm.blocks), ports_(sm.ports) {
  const SmL1Parameters& p = sm.constants.parameters.l1;
  const std::uint64_t bytes = p.unified_bytes.count() ? p.unified_bytes.count() : p.bytes.count();
  hot_.cache = L1Cache(static_cast<std::uint32_t>(bytes / line_bytes), p.sets,
                       p.set_index == L1SetIndex::scattered);
  hot_.misses = MissTable(p.mshrs);
}

void L1::close_pending(std::uint64_t tag, std::uint8_t sectors) {
  const std::uint16_t miss = hot_.misses.find(tag);
  if (miss != MissTable::none && (hot_.misses[miss].pending & sectors) != 0) close_miss(miss);
}

void L1::close_miss(std::uint16_t index) {
  Miss& miss = hot_.misses[index];
  hot_.misses.close(index);
  if (miss.line != L1Cache::none) hot_.cache.line(miss.line).reserved = false;
  miss.line = L1Cache::none;
}

void L1::pass_by(std::uint64_t tag, std::uint8_t sectors) {
  close_pending(tag, sectors);
  const std::uint16_t line = hot_.cache.find(tag);
  if (line != L1Cache::none) hot_.cache.line(line).valid &= static_cast<std::uint8_t>(~sectors);
}

/// Returns the sectors of which all bytes are in the mask.
static std::uint8_t whole_sectors(const LineBytes& mask) {
  unsigned sectors = 0;
  for (unsigned sector = 0; sector < 4; ++sector)
    sectors |= unsigned{mask[sector] == 0xffffffff} << sector;
  return static_cast<std::uint8_t>(sectors);
}

void L1::store(std::uint64_t tag, std::uint8_t sectors, const LineBytes& mask,
               const std::byte* bytes, SmCycle now) {
  close_pending(tag, sectors);
  std::uint16_t index = hot_.cache.find(tag);
  const SmL1Parameters& p = constants_.parameters.l1;
  if (p.allocates_stores) {
    const std::uint8_t whole = whole_sectors(mask);
    if (index == L1Cache::none && whole != 0) index = make_room(tag, false, now);
    if (index != L1Cache::none) hot_.cache.line(index).valid |= whole;
  }
  if (index == L1Cache::none) return;
  L1Cache::Line& line = hot_.cache.line(index);
  if (p.global_writes == L1WritePolicy::write_evict) {
    line.valid &= static_cast<std::uint8_t>(~sectors);
    return;
  }
  merge(hot_.cache.data(index), bytes, mask, static_cast<std::uint8_t>(sectors & line.valid));
}

void L1::merge(std::byte* to, const std::byte* from, const LineBytes& mask, std::uint8_t sectors) {
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (!((sectors >> sector) & 1)) continue;
    std::byte* target = to + sector * sector_bytes;
    const std::byte* source = from + sector * sector_bytes;
    if (mask[sector] == 0xffffffff) {
      std::memcpy(target, source, sector_bytes);
      continue;
    }
    for (unsigned b = 0; b < sector_bytes; ++b)
      if ((mask[sector] >> b) & 1) target[b] = source[b];
  }
}

bool L1::store_local(std::uint64_t tag, std::uint8_t sectors, const LineBytes& mask,
                     const std::byte* bytes, SmCycle now) {
  std::uint16_t line = hot_.cache.find(tag);
  if (line == L1Cache::none) line = make_room(tag, true, now);
  if (line == L1Cache::none) return false;
  hot_.cache.touch(line);
  merge(hot_.cache.data(line), bytes, mask, sectors);
  LineBytes& dirty = hot_.cache.dirty(line);
  for (unsigned sector = 0; sector < 4; ++sector) {
    dirty[sector] |= mask[sector];
    if (dirty[sector] == 0xffffffff)
      hot_.cache.line(line).valid |= static_cast<std::uint8_t>(1u << sector);
  }
  return true;
}

bool L1::has_all(const Access& access, const LineGroup& group, std::uint16_t line) const {
  const LineBytes& dirty = hot_.cache.dirty(line);
  const std::uint8_t valid = hot_.cache.line(line).valid;
  const unsigned bytes = std::min<unsigned>(access.stride, 4);
  const auto ones = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  for (std::uint32_t left = group.lanes; left != 0; left &= left - 1) {
    const unsigned offset = access.offset[static_cast<unsigned>(std::countr_zero(left))];
    const unsigned sector = offset / 32;
    if ((valid >> sector) & 1) continue;
    if (((dirty[sector] >> (offset % 32)) & ones) != ones) return false;
  }
  return true;
}

bool L1::has_dirty(std::uint16_t line, std::uint8_t sectors) const {
  for (unsigned sector = 0; sector < 4; ++sector)
    if (((sectors >> sector) & 1) && hot_.cache.dirty(line)[sector] != 0) return true;
  return false;
}

std::uint16_t L1::make_room(std::uint64_t tag, bool local, SmCycle now) {
  const std::uint16_t index = hot_.cache.victim(tag);
  if (index == L1Cache::none) return index;
  const L1Cache::Line& line = hot_.cache.line(index);
  if (line.used) {
    if (line.valid != 0) ++statistics_.l1_evictions;
    if (hot_.cache.is_dirty(index)) {
      close_pending(line.tag, 0xf);  // a fill on its way was read before these bytes
      write_back(index, 0xf, now);
    }
  }
  hot_.cache.assign(index, tag, local);
  return index;
}

void L1::write_back(std::uint16_t line, std::uint8_t sectors, SmCycle now) {
  LineBytes mask{};
  MemoryRequest request;
  for (unsigned sector = 0; sector < 4; ++sector) {
    std::uint32_t& dirty = hot_.cache.dirty(line)[sector];
    if (!((sectors >> sector) & 1) || dirty == 0) continue;
    mask[sector] = dirty;
    dirty = 0;
    request.sectors |= static_cast<std::uint8_t>(1u << sector);
  }
  const PhysicalAddress physical(hot_.cache.line(line).tag * line_bytes);
  const LocalHome home = constants_.local.home_of(physical);
  request.line = physical.value();
  request.virtual_page = request.line >> 12;
  request.tag = RequestTag::make(RequestTag::write_back, 0, false);
  request.requester = static_cast<std::uint16_t>(constants_.setup.index);
  request.tenant = blocks_.tenant_at(home).value();
  request.warp = static_cast<std::uint16_t>(home.value() % constants_.local_homes());
  if (constants_.blocks_leave()) ++written_back_[home.value()];
  request.operation = MemoryOperation::store;
  request.flags = flag_local;
  ++statistics_.tenant[request.tenant].local_writebacks;
  ports_.send_store(ports_.destination_of(physical, false), request.sectors, mask,
                    hot_.cache.data(line), now) = request;
}

void L1::fill(const Miss& miss, std::uint8_t sectors, const std::byte* data, SmCycle usable,
              SmCycle now) {
  std::uint16_t index = miss.line != L1Cache::none ? miss.line : hot_.cache.find(miss.tag);
  if (index == L1Cache::none) index = make_room(miss.tag, miss.local, now);
  if (index == L1Cache::none) return;
  L1Cache::Line& line = hot_.cache.line(index);
  std::byte* to = hot_.cache.data(index);
  if (miss.local) {
    LineBytes clean;
    for (unsigned sector = 0; sector < 4; ++sector)
      clean[sector] = ~hot_.cache.dirty(index)[sector];
    merge(to, data, clean, sectors);
  } else if (sectors == 0xf) {
    std::memcpy(to, data, line_bytes);
  } else {
    for (unsigned sector = 0; sector < 4; ++sector)
      if ((sectors >> sector) & 1)
        std::memcpy(to + sector * sector_bytes, data + sector * sector_bytes, sector_bytes);
  }
  line.valid |= sectors;
  line.ready = std::max(line.ready, usable - constants_.parameters.l1.fill_latency.count());
}

template <class Owns>
void L1::forget_local_if(Owns&& owns) {
  for (std::uint32_t i = 0; i < hot_.cache.lines(); ++i) {
    const auto index = static_cast<std::uint16_t>(i);
    const L1Cache::Line& line = hot_.cache.line(index);
    if (!line.local || line.reserved) continue;
    if (owns(constants_.local.home_of(PhysicalAddress(line.tag * line_bytes))))
      hot_.cache.drop(index);
  }
}

void L1::forget_local(const BlockSlot& block) {
  forget_local_if([&](LocalHome home) { return block.owns(home, constants_.first_home()); });
}

void L1::forget_local(const std::vector<LocalHome>& homes) {
  forget_local_if(
      [&](LocalHome home) { return std::find(homes.begin(), homes.end(), home) != homes.end(); });
}

bool L1::writes_back(const std::vector<LocalHome>& homes) const {
  return std::any_of(homes.begin(), homes.end(),
                     [&](LocalHome home) { return written_back_.contains(home.value()); });
}

void L1::written_back(PhysicalAddress line) {
  const auto home = written_back_.find(constants_.local.home_of(line).value());
  if (home != written_back_.end() && --home->second == 0) written_back_.erase(home);
}

void L1::write_back_local(const BlockSlot& block, SmCycle now) {
  for (std::uint32_t i = 0; i < hot_.cache.lines(); ++i) {
    const auto index = static_cast<std::uint16_t>(i);
    const L1Cache::Line& line = hot_.cache.line(index);
    if (line.local && hot_.cache.is_dirty(index) &&
        block.owns(constants_.local.home_of(PhysicalAddress(line.tag * line_bytes)),
                   constants_.first_home()))
      write_back(index, 0xf, now);
  }
}

void L1::resize(std::uint32_t lines, SmCycle now) {
  for (std::uint32_t i = 0; i < hot_.cache.lines(); ++i) {
    const auto line = static_cast<std::uint16_t>(i);
    if (hot_.cache.is_dirty(line)) write_back(line, 0xf, now);
  }
  hot_.misses.for_each_open([&](std::uint16_t miss) { close_miss(miss); });
  hot_.cache.resize(lines);
}

void L1::drop_frames(std::span<const std::uint64_t> frames) {
  if (frames.empty()) return;
  for (std::uint32_t i = 0; i < hot_.cache.lines(); ++i) {
    L1Cache::Line& line = hot_.cache.line(static_cast<std::uint16_t>(i));
    if (line.used && !line.local && contains(frames, frame_number(line.tag * line_bytes, false)))
      line.valid = 0;
  }
  hot_.misses.for_each_open([&](std::uint16_t miss) {
    if (!hot_.misses[miss].local && contains(frames, frame_of(hot_.misses[miss]))) close_miss(miss);
  });
}

void L1::warm_hot() const {
  warm(&hot_, sizeof hot_);
  hot_.misses.warm_next(3);
}

}  // namespace lockstep
