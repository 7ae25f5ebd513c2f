#include "models/sm/context/block_contexts.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

namespace {

/// What a register or a word of shared memory holds that nobody saved.
constexpr std::uint32_t overwritten = 0xdeadbea7;

void overwrite(std::span<std::byte> bytes) {
  for (std::size_t at = 0; at + sizeof overwritten <= bytes.size(); at += sizeof overwritten)
    std::memcpy(bytes.data() + at, &overwritten, sizeof overwritten);
}

/// Calls function(slot) for the block's warps in their order in it.
template <class Function>
void for_each_in_order(const ResidentBlocks& blocks, const BlockSlot& block, Function&& function) {
  for (unsigned number = 0; number < static_cast<unsigned>(std::popcount(block.warps)); ++number)
    for_each_warp(block.warps, [&](WarpSlot slot) {
      if (blocks.warp(slot).warp_in_block == number) function(slot);
    });
}

/// Of the block, its control state that is not its warps'.
void serialize_control(Archive& archive, BlockSlot& block) {
  archive(block.alive_threads, block.warps_left, block.phase, block.gathering, block.barriers);
}

std::size_t bytes_of_registers(const ResidentBlocks& blocks, const BlockSlot& block) {
  const std::size_t rows = std::size_t{block.rows} * isa::warp_size * sizeof(std::uint32_t);
  return std::max<std::size_t>(rows, blocks.grid(block.grid).block.registers * 4u);
}

}  // namespace

void BlockContexts::freeze(BlockPlace place) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) {
    if (blocks_.warp(slot).paths.finished() || front_end_.held().frozen(slot) ||
        printing_.amid(slot))
      return;
    front_end_.held().freeze(slot);
    front_end_.wait_for_fault(slot);
  });
}

void BlockContexts::thaw(BlockPlace place) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) { front_end_.held().thaw(slot); });
}

bool BlockContexts::is_quiet(BlockPlace place) const {
  bool quiet = true;
  for_each_warp(blocks_.block(place).warps,
                [&](WarpSlot slot) { quiet = quiet && (has_left(slot) || is_quiet(slot)); });
  return quiet;
}

/// What is pending of its results must be those of its squashed accesses: no event brings them.
bool BlockContexts::is_quiet(WarpSlot slot) const {
  const Warp& warp = blocks_.warp(slot);
  if (warp.stores != 0 || printing_.amid(slot) || !faultable_.all_squashed(slot) ||
      is_named_by_events(slot))
    return false;
  if (!warp.paths.finished() && !front_end_.held().frozen(slot)) return false;
  Scoreboard pending = warp.pending;
  unsigned flights = 0;
  bool answered = true;
  faultable_.for_each_of(slot, [&](const FaultableAccess& access) {
    if (access.flight == FaultableAccess::none) return;
    ++flights;
    answered &= flights_[access.flight].outstanding == 1;  // its last check
    const IssueRecord& record = warp.records[access.pc];
    for (unsigned i = 0; i < record.releases; ++i) pending.clear(record.release[i]);
  });
  return answered && pending.empty() && warp.flights == flights &&
         (faultable_.first_of_warp(slot) != FaultableAccess::none ||
          !front_end_.held().fetch_is_off(slot));
}

bool BlockContexts::is_named_by_events(WarpSlot slot) const {
  if ((front_end_.ready_warps() & bit_of(slot)) != 0 || front_end_.held().reads(slot)) return true;
  return (front_end_.waiting(StallCause::control) & bit_of(slot)) != 0 && !is_suspended(slot) &&
         !front_end_.sleeping().asleep(slot);
}

bool BlockContexts::is_suspended(WarpSlot slot) const {
  bool suspended = false;
  faultable_.for_each_of(slot, [&](const FaultableAccess& access) {
    suspended |= access.flight != FaultableAccess::none && flights_[access.flight].acquires != 0;
  });
  return suspended;
}

std::vector<std::byte> BlockContexts::take_out(BlockPlace place, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  const std::size_t registers = bytes_of_registers(blocks_, block);
  const std::span<std::byte> rows = blocks_.rows_of(place), shared = blocks_.shared_of(place);
  std::vector<std::byte> bytes(registers + shared.size());
  std::copy(rows.begin(), rows.end(), bytes.begin());
  std::copy(shared.begin(), shared.end(), bytes.begin() + static_cast<std::ptrdiff_t>(registers));
  std::ostringstream control;
  Archive archive = Archive::saving(control);
  serialize_control(archive, block);
  for_each_in_order(blocks_, block, [&](WarpSlot slot) {
    SavedWarp saved = take_out(slot, now);
    archive(saved);
  });
  const std::string text = control.str();
  const auto written = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), written.begin(), written.end());
  overwrite(rows);
  overwrite(shared);
  return bytes;
}

void BlockContexts::discard(BlockPlace place, SmCycle now) {
  for_each_warp(blocks_.block(place).warps, [&](WarpSlot slot) { take_out(slot, now); });
}

BlockContexts::SavedWarp BlockContexts::take_out(WarpSlot slot, SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  SavedWarp saved;
  saved.paths = warp.paths;
  saved.left = has_left(slot);
  if (saved.left) return saved;
  saved.suspended = is_suspended(slot);
  if (front_end_.sleeping().asleep(slot))
    saved.asleep = std::max<std::int64_t>(1, front_end_.sleeping().until(slot) - now);
  while (faultable_.first_of_warp(slot) != FaultableAccess::none)
    saved.accesses.push_back(take_out_oldest_access(slot, now));
  front_end_.sleeping().leave(slot);
  front_end_.held().thaw(slot);
  front_end_.held().go_on(slot);
  front_end_.call_off(bit_of(slot));
  front_end_.remove(slot);
  return saved;
}

SavedAccess BlockContexts::take_out_oldest_access(WarpSlot slot, SmCycle now) {
  const std::uint16_t index = faultable_.first_of_warp(slot);
  FaultableAccess& access = faultable_[index];
  SavedAccess saved;
  saved.issued = access.issued;
  saved.pc = access.pc;
  saved.flies = access.flight != FaultableAccess::none;
  if (saved.flies) flights_.take_out(access.flight);
  if (const Access* operands = load_store_.logged_operands_of(access)) {
    saved.operands.emplace();
    saved.operands->access.take_global(*operands);
    load_store_.forget_logged(access);
  }
  saved.lanes = faultable_.take_out(index, now);
  return saved;
}

void BlockContexts::put_in(BlockPlace place, std::vector<std::byte> bytes, SmCycle now) {
  BlockSlot& block = blocks_.block(place);
  const std::size_t registers = bytes_of_registers(blocks_, block);
  const std::span<std::byte> rows = blocks_.rows_of(place), shared = blocks_.shared_of(place);
  std::memcpy(rows.data(), bytes.data(), rows.size());
  if (!shared.empty()) std::memcpy(shared.data(), bytes.data() + registers, shared.size());
  const std::size_t begin = registers + shared.size();
  std::istringstream control(
      std::string(reinterpret_cast<const char*>(bytes.data()) + begin, bytes.size() - begin));
  Archive archive = Archive::restoring(control);
  serialize_control(archive, block);
  std::vector<std::pair<WarpSlot, SavedWarp>> warps;
  for_each_in_order(blocks_, block, [&](WarpSlot slot) {
    SavedWarp& saved = warps.emplace_back(slot, SavedWarp{}).second;
    archive(saved);
    put_in(slot, saved);
  });
  for (const auto& [slot, saved] : warps) {
    if (saved.left) continue;
    go_on(slot, saved, now);
    faultable_.go_on_after_return(slot, now);
  }
}

/// One that waits for an acquire goes on when that commits: what would resume it means nothing.
void BlockContexts::go_on(WarpSlot slot, const SavedWarp& saved, SmCycle now) {
  const SmCycle when = now + std::max<std::int64_t>(1, saved.asleep);
  front_end_.add(slot, when);
  if (saved.asleep > 0 || saved.suspended) front_end_.sleeping().begin(slot, when);
  if (saved.suspended) front_end_.sleeping().leave(slot);
}

void BlockContexts::put_in(WarpSlot slot, SavedWarp& saved) {
  blocks_.warp(slot).paths = saved.paths;
  for (SavedAccess& access : saved.accesses) put_in_access(slot, access);
}

void BlockContexts::put_in_access(WarpSlot slot, SavedAccess& saved) {
  const std::uint16_t index =
      faultable_.put_in(slot, saved.pc, saved.issued, std::move(saved.lanes));
  FaultableAccess& access = faultable_[index];
  if (saved.flies)
    access.flight = flights_.begin(slot, saved.pc, blocks_.warp(slot).records[saved.pc]);
  if (!saved.operands) return;
  Access& operands = saved.operands->access;
  operands.warp = static_cast<std::uint8_t>(slot.value());
  operands.member = index;
  operands.flight = access.flight;
  load_store_.log_operands(access, operands);
}

}  // namespace lockstep
