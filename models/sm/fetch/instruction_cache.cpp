#include "models/sm/fetch/instruction_cache.hpp"

#include <algorithm>

#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

InstructionCache::InstructionCache(const SmContext& sm, FrontEnd& front_end)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      ports_(sm.ports),
      front_end_(front_end),
      l1_(sm.constants.parameters.instruction_cache.l1_bytes.count() / line_bytes,
          sm.constants.parameters.instruction_cache.l1_ways),
      buffered_(sm.constants.parameters.warps, ReadOnlyTags::none),
      coming_(sm.constants.parameters.warps) {
  const SmInstructionCacheParameters& p = sm.constants.parameters.instruction_cache;
  if (p.on())
    l0_.assign(sm.constants.parameters.schedulers, {p.l0_bytes.count() / line_bytes, p.l0_ways});
}

/// Prefetches as many lines as there is room for.
void InstructionCache::prefetch(const GridSlot& grid, SmCycle now) {
  const std::vector<std::uint32_t>& lines = grid.issue->code_lines;
  const auto most = static_cast<std::uint32_t>(
      constants_.parameters.instruction_cache.l1_bytes.count() / line_bytes);
  const std::uint32_t end = std::min(lines.back() + 1, lines.front() + most);
  for (std::uint32_t line = lines.front(); line < end; ++line)
    if (l1_.find(line) == nullptr && request_of(line) == nullptr)
      ask(line, grid.launch.tenant, now);
}

bool InstructionCache::fetch(WarpSlot slot, std::uint32_t number, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const std::uint32_t last = blocks_.grid_of(warp).issue->code_lines.back();
  const std::uint32_t ahead = constants_.parameters.instruction_cache.ahead;
  const unsigned sub_core = slot.value() % constants_.parameters.schedulers;
  if (Coming& coming = coming_[slot.value()]; coming.line == number) {
    // A warp that another event wakes early does not ask again: asking would delay the line that it
    // waits for.
    if (coming.ready > now) return false;
    coming.line = ReadOnlyTags::none;
    buffered_[slot.value()] = number;
    return true;
  }
  if (ReadOnlyTags::Line* line = l0_[sub_core].find(number); line == nullptr) {
    ++statistics_.tenant[warp.tenant].code_misses;
    // The line that is needed first is brought last: a small cache keeps it.
    for (std::uint32_t next = std::min(number + ahead, last); next > number; --next)
      bring(next, sub_core, true, warp, now);
    bring(number, sub_core, false, warp, now);
  } else if (line->ready <= now) {
    buffered_[slot.value()] = number;
    if (line->ahead) {
      line->ahead = false;
      if (number + ahead <= last) bring(number + ahead, sub_core, true, warp, now);
    }
    return true;
  }
  if (const ReadOnlyTags::Line* line = l0_[sub_core].find(number)) {
    tell(slot, number, line->ready);
  } else {
    request_of(number)->warps |= bit_of(slot);
  }
  return false;
}

void InstructionCache::tell(WarpSlot slot, std::uint32_t line, SmCycle ready) {
  coming_[slot.value()] = {line, ready};
  front_end_.tell_at(slot, WarpEvent::code_came, ready);
}

void InstructionCache::bring(std::uint32_t number, unsigned sub_core, bool ahead, const Warp& warp,
                             SmCycle now) {
  if (l0_[sub_core].find(number) != nullptr) return;
  if (const ReadOnlyTags::Line* line = l1_.find(number)) {
    const SmCycle found = std::max(now, line->ready);
    l0_[sub_core].fill(number, found + constants_.parameters.instruction_cache.l1_latency.count(),
                       ahead);
    return;
  }
  if (request_of(number) == nullptr) ask(number, warp.tenant, now);
  Request& request = *request_of(number);
  const auto bit = static_cast<std::uint8_t>(1u << sub_core);
  const bool wanted = (request.sub_cores & bit & ~request.ahead) != 0;
  request.sub_cores |= bit;
  request.ahead =
      static_cast<std::uint8_t>(ahead && !wanted ? request.ahead | bit : request.ahead & ~bit);
}

InstructionCache::Request* InstructionCache::request_of(std::uint32_t line) {
  const auto request = std::find_if(requests_.begin(), requests_.end(),
                                    [&](const Request& other) { return other.line == line; });
  return request == requests_.end() ? nullptr : &*request;
}

void InstructionCache::ask(std::uint32_t line, std::uint16_t tenant, SmCycle now) {
  ++statistics_.tenant[tenant].code_requests;
  MemoryRequest request;
  request.line = constants_.code.code_line(line).value();
  request.virtual_page = request.line >> 12;
  request.tag = RequestTag::make(RequestTag::code, 0, false);
  request.requester = static_cast<std::uint16_t>(constants_.setup.index);
  request.tenant = tenant;
  request.sectors = 0xf;
  request.flags = flag_code;
  ports_.send(ports_.destination_of(PhysicalAddress(request.line), false), 0, now).request =
      request;
  requests_.push_back({line});
}

void InstructionCache::answered(const MemoryResponse& response, SmCycle usable, SmCycle) {
  const std::uint32_t number = constants_.code.number_of_code(PhysicalAddress(response.line));
  const Request request = *request_of(number);
  std::erase_if(requests_, [&](const Request& other) { return other.line == number; });
  l1_.fill(number, usable);
  for (unsigned sub_core = 0; sub_core < l0_.size(); ++sub_core)
    if ((request.sub_cores >> sub_core) & 1)
      l0_[sub_core].fill(number, usable, ((request.ahead >> sub_core) & 1) != 0);
  for_each_warp(request.warps, [&](WarpSlot slot) { tell(slot, number, usable); });
}

void InstructionCache::serialize(Archive& archive) {
  archive.section("sm/instruction_cache", 1);
  archive(l1_, buffered_, coming_, requests_);
  for (ReadOnlyTags& l0 : l0_) archive(l0);
}

}  // namespace lockstep
