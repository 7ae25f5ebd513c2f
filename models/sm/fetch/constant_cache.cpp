#include "models/sm/fetch/constant_cache.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/sm/front_end/issue_path.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

ConstantCache::ConstantCache(const SmContext& sm, FrontEnd& front_end, Flights& flights)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      ports_(sm.ports),
      front_end_(front_end),
      flights_(flights),
      l0_(sm.constants.parameters.constant_cache.l0_bytes.count() / CodeRegion::constant_line_bytes,
          sm.constants.parameters.constant_cache.l0_ways),
      l1_(sm.constants.parameters.constant_cache.l1_bytes.count() / CodeRegion::constant_line_bytes,
          sm.constants.parameters.constant_cache.l1_ways) {}

void ConstantCache::load(WarpSlot slot, const IssueRecord& record,
                         std::span<const std::uint32_t> lines, SmCycle usable, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  std::uint16_t flight = Flights::none;
  for (const std::uint32_t number : lines) {
    if (const ReadOnlyTags::Line* line = l0_.find(number)) {
      usable = std::max(usable, line->ready);
      continue;
    }
    ++statistics_.tenant[warp.tenant].constant_misses;
    if (const ReadOnlyTags::Line* line = l1_.find(number)) {
      const SmCycle found = std::max(usable, line->ready);
      usable = found + constants_.parameters.constant_cache.l1_latency.count();
      l0_.fill(number, usable);
      continue;
    }
    if (flight == Flights::none) flight = flights_.begin(slot, warp.paths.pc(), record);
    flights_.expect(flight);
    waiters_.push_back({number, flight});
    if (std::find(asked_.begin(), asked_.end(), number) == asked_.end())
      ask(number, warp.tenant, no_bank, now);
  }
  if (flight != Flights::none) {
    flights_.answered(flight, usable, now);
  } else {
    front_end_.commit_at(slot, warp, record, usable);
  }
}

bool ConstantCache::wait_for_parameters(WarpSlot slot, const GridSlot& grid) {
  if (grid.parameters_ready != no_cycle) {
    front_end_.tell_at(slot, WarpEvent::code_came, grid.parameters_ready);
    return false;
  }
  const auto bank = std::find_if(banks_.begin(), banks_.end(),
                                 [&](const Bank& other) { return other.grid == grid.launch.grid; });
  LOCKSTEP_CHECK(bank != banks_.end(), "nobody has asked for the parameters of a grid");
  bank->warps |= bit_of(slot);
  return false;
}

void ConstantCache::prefetch(const GridSlot& grid, SmCycle now) {
  Bank bank;
  bank.grid = grid.launch.grid;
  bank.missing = std::max<std::uint32_t>(
      1, static_cast<std::uint32_t>((grid.parameters.size() + CodeRegion::constant_line_bytes - 1) /
                                    CodeRegion::constant_line_bytes));
  const std::uint32_t first = CodeRegion::parameter_line(grid.launch.number_on_gpu, 0);
  for (std::uint32_t i = 0; i < bank.missing; ++i)
    ask(first + i, grid.launch.tenant, bank.index(), now);
  banks_.push_back(bank);
}

void ConstantCache::ask(std::uint32_t line, std::uint16_t tenant, std::uint16_t index,
                        SmCycle now) {
  ++statistics_.tenant[tenant].constant_requests;
  const PhysicalAddress address = constants_.code.constant_address(line);
  MemoryRequest request;
  request.line = address.rounded_down(line_bytes).value();
  request.virtual_page = request.line >> 12;
  request.tag = RequestTag::make(RequestTag::constants, index, false);
  request.requester = static_cast<std::uint16_t>(constants_.setup.index);
  request.tenant = tenant;
  request.sectors = address.value() == request.line ? 0x3 : 0xc;
  request.flags = flag_code;
  ports_.send(ports_.destination_of(PhysicalAddress(request.line), false), 0, now).request =
      request;
  asked_.push_back(line);
}

void ConstantCache::answered(const MemoryResponse& response, SmCycle usable, SmCycle now) {
  const std::uint32_t number =
      constants_.code.number_of_constants(PhysicalAddress(response.line), response.sectors);
  std::erase(asked_, number);
  l1_.fill(number, usable);
  l0_.fill(number, usable);
  const auto here = std::stable_partition(
      waiters_.begin(), waiters_.end(), [&](const Waiter& other) { return other.line != number; });
  for (auto waiter = here; waiter != waiters_.end(); ++waiter)
    flights_.answered(waiter->flight, usable, now);
  waiters_.erase(here, waiters_.end());
  const auto bank = std::find_if(banks_.begin(), banks_.end(), [&](const Bank& other) {
    return other.index() == RequestTag::index(response.tag);
  });
  if (bank == banks_.end() || --bank->missing > 0) return;
  bank_came(*bank, usable);
  banks_.erase(bank);
}

/// The grid of the bank may have left already, with a tenant that was ended.
void ConstantCache::bank_came(const Bank& bank, SmCycle usable) {
  for (std::size_t g = 0; g < blocks_.grid_places(); ++g) {
    GridSlot& grid = blocks_.grid(static_cast<std::uint8_t>(g));
    if (grid.used && grid.launch.grid == bank.grid) grid.parameters_ready = usable;
  }
  for_each_warp(bank.warps,
                [&](WarpSlot slot) { front_end_.tell_at(slot, WarpEvent::code_came, usable); });
}

void ConstantCache::serialize(Archive& archive) {
  archive.section("sm/constant_cache", 1);
  archive(l0_, l1_, asked_, waiters_, banks_);
}

}  // namespace lockstep
