#include "models/sm/turnover/warp_watch.hpp"

#include <algorithm>
#include <utility>

#include "models/sm/blocks/warp_set.hpp"

namespace lockstep {
namespace {

/// Number of checks within the time in which tenants must get on, and number of checks for which a
/// block must have been there before it is examined.
constexpr std::int64_t looks_of_limit = 640, looks_before = 4;

}  // namespace

WarpWatch::WarpWatch(const SmContext& sm)
    : statistics_(sm.statistics),
      blocks_(sm.blocks),
      limit_(sm.constants.setup.progress_limit),
      period_(std::max(Time{limit_.femtoseconds() / looks_of_limit}, Time{1})),
      counted_(sm.constants.setup.tenants.size()) {}

void WarpWatch::take(Time now, std::span<std::uint8_t> tenants) {
  if (limit_ == Time::zero()) return;
  count(tenants);
  if (std::exchange(looks_, now / period_) != looks_) look(now, tenants);
}

void WarpWatch::count(std::span<std::uint8_t> tenants) {
  for (std::size_t t = 0; t < counted_.size(); ++t) {
    const SmStatistics::OfTenant& counts = statistics_.tenant[t];
    const Counted now{counts.warp_instructions.value(), counts.active_cycles.value()};
    if (now.issued != counted_[t].issued) tenants[t] |= progress::issued;
    if (now.active_cycles != counted_[t].active_cycles) tenants[t] |= progress::on_chip;
    counted_[t] = now;
  }
  for_each_warp(blocks_.page_waiters() & blocks_.resident(), [&](WarpSlot slot) {
    tenants[blocks_.tenant_of(slot).value()] |= progress::wants_page;
  });
}

void WarpWatch::look(Time now, std::span<std::uint8_t> tenants) {
  std::uint64_t seen = 0;
  for_each_warp(blocks_.resident(), [&](WarpSlot slot) {
    const BlockPlace place(blocks_.warp(slot).block);
    if ((seen >> place.value() & 1) != 0) return;
    seen |= std::uint64_t{1} << place.value();
    const BlockSlot& block = blocks_.block(place);
    const GridLaunch& launch = blocks_.grid(block.grid).launch;
    Block& known =
        known_.try_emplace({launch.grid, block.index}, Block{now, now, {}}).first->second;
    known.seen = now;
    if (now - known.came >= period_ * looks_before && gets_on(place, known))
      tenants[launch.tenant] |= progress::got_on;
  });
  std::erase_if(known_, [&](const auto& entry) {
    const Block& block = entry.second;
    return block.seen != now && (block.states.empty() || now - block.seen > limit_);
  });
}

bool WarpWatch::gets_on(BlockPlace place, Block& known) {
  BlockSlot& block = blocks_.block(place);
  std::size_t warps = 0;
  for_each_warp(block.warps, [&](WarpSlot slot) {
    warps = std::max<std::size_t>(warps, blocks_.warp(slot).warp_in_block + 1u);
  });
  if (known.states.size() < warps + 1) known.states.resize(warps + 1);
  bool any = known.states[0].add(
      isa::hash_of({blocks_.shared_memory_of(block), block.shared_bytes}, block.alive_threads));
  for_each_warp(block.warps, [&](WarpSlot slot) {
    const Warp& warp = blocks_.warp(slot);
    if (!warp.paths.finished()) any |= known.states[warp.warp_in_block + 1u].add(state_of(warp));
  });
  return any;
}

std::uint64_t WarpWatch::state_of(const Warp& warp) const {
  const std::size_t words = std::size_t{blocks_.grid_of(warp).rows_per_warp()} * isa::warp_size;
  return isa::hash_of(std::as_bytes(std::span(warp.registers, words)), warp.paths.alive());
}

void WarpWatch::serialize(Archive& archive) {
  archive.section("sm/warp_watch", 1);
  archive(looks_, counted_, known_);
}

}  // namespace lockstep
