/// Local lines in L1: written back, with a mask of dirty bytes.
///
/// A store needs no fill: its bytes become dirty, and a sector whose bytes are all dirty is valid.
/// A load of a sector that is only partly dirty first sends the dirty bytes to L2 and then asks for
/// the sector; both go through the same queue, so the answer holds them.
/// Source: architecture.md, section 8, rule 3; gpu-parameters.md, section 1 (lazy fetch on read).

#include "models/sm/ports/request_tag.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

bool SmState::all_dirty(const Access& access, unsigned group, std::uint16_t line) {
  const L1Cache::DirtyBytes& dirty = l1.dirty(line);
  const std::uint8_t valid = l1.line(line).valid;
  const unsigned bytes = std::min<unsigned>(access.stride, 4);
  const auto ones = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  for (std::uint32_t left = access.group[group].lanes; left != 0; left &= left - 1) {
    const unsigned offset = access.offset[static_cast<unsigned>(std::countr_zero(left))];
    const unsigned sector = offset / 32;
    if ((valid >> sector) & 1) continue;
    if (((dirty[sector] >> (offset % 32)) & ones) != ones) return false;
  }
  return true;
}

bool SmState::has_dirty(std::uint16_t line, std::uint8_t sectors) {
  for (unsigned sector = 0; sector < 4; ++sector)
    if (((sectors >> sector) & 1) && l1.dirty(line)[sector] != 0) return true;
  return false;
}

bool SmState::local_store_group(Access& access, unsigned group, std::uint64_t physical,
                                std::int64_t now) {
  const std::uint64_t tag = physical / line_bytes;
  std::uint16_t line = l1.find(tag);
  if (line == L1Cache::none) line = make_room(tag, true, now);
  if (line == L1Cache::none) return false;
  l1.touch(line);
  std::array<std::byte, line_bytes> image;
  const L1Cache::DirtyBytes mask = store_image(access, group, image.data());
  merge_bytes(l1.data(line), image.data(), mask, access.group[group].sectors);
  for (unsigned sector = 0; sector < 4; ++sector) {
    l1.dirty(line)[sector] |= mask[sector];
    if (l1.dirty(line)[sector] == 0xffffffff)
      l1.line(line).valid |= static_cast<std::uint8_t>(1u << sector);
  }
  return true;
}

std::uint16_t SmState::make_room(std::uint64_t tag, bool local, std::int64_t now) {
  const std::uint16_t line = l1.victim(tag);
  if (line == L1Cache::none) return line;
  if (l1.line(line).used) {
    if (l1.line(line).valid != 0) ++statistics.l1_evictions;
    if (l1.is_dirty(line)) {
      close_pending(l1.line(line).tag, 0xf);  // a fill on its way was read before these bytes
      write_back(line, 0xf, now);
    }
  }
  l1.assign(line, tag, local);
  return line;
}

void SmState::write_back(std::uint16_t line, std::uint8_t sectors, std::int64_t now) {
  L1Cache::DirtyBytes mask{};
  MemoryRequest request;
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (!((sectors >> sector) & 1) || l1.dirty(line)[sector] == 0) continue;
    mask[sector] = l1.dirty(line)[sector];
    l1.dirty(line)[sector] = 0;
    request.sectors |= static_cast<std::uint8_t>(1u << sector);
  }
  const std::uint64_t words = parameters.local_bytes_per_thread.count() / 4;
  const auto slot = static_cast<unsigned>((l1.line(line).tag - local_base / line_bytes) / words);
  request.line = l1.line(line).tag * line_bytes;
  request.virtual_page = request.line >> 12;
  request.tag = RequestTag::make(RequestTag::write_back, 0, false);
  request.requester = static_cast<std::uint16_t>(setup.index);
  request.tenant = warps[slot].tenant;
  request.warp = static_cast<std::uint16_t>(slot);
  request.operation = MemoryOperation::store;
  request.flags = flag_local;
  ++statistics.tenant[request.tenant].local_writebacks;
  send_store(setup.mapping.partition(request.line), request.sectors, mask, l1.data(line), now) =
      request;
}

}  // namespace lockstep
