#include "models/sm/turnover/block_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"

namespace lockstep {

bool BlockExchange::can_go(const BlockInMemory& block) const {
  return block.state == BlockInMemory::State::there && block.kept.empty() &&
         (!has_local_memory(block) || blocks_.homes().can_lend(block.homes));
}

bool BlockExchange::gives_soon(std::uint8_t grid) const {
  bool soon = false;
  for (const BlockInMemory& block : in_memory_) {
    if (block.grid != grid || !can_go(block)) continue;
    if (is_written_back(block)) return false;
    soon = true;
  }
  return soon;
}

/// Blocks that wait for pages come last.
std::vector<BlockInMemory>::iterator BlockExchange::next_of(std::uint8_t grid) {
  const auto first_of = [&](bool waiting) {
    return std::find_if(in_memory_.begin(), in_memory_.end(), [&](const BlockInMemory& block) {
      return block.grid == grid && block.pages.empty() != waiting && can_go(block) &&
             is_written_back(block);
    });
  };
  const auto ready = first_of(false);
  return ready != in_memory_.end() ? ready : first_of(true);
}

std::pair<BlockGiven, std::vector<std::byte>> BlockExchange::give(std::uint8_t grid) {
  BlockGiven given;
  given.block = {blocks_.grid(grid).launch.grid, constants_.setup.index, 0};
  const auto block = next_of(grid);
  return block == in_memory_.end() ? std::pair{given, std::vector<std::byte>{}} : give(block);
}

std::pair<BlockGiven, std::vector<std::byte>> BlockExchange::give_of_cluster(
    const BlockReference& reference) {
  const auto block =
      std::find_if(in_memory_.begin(), in_memory_.end(), [&](const BlockInMemory& other) {
        return other.reference.grid == reference.grid && other.reference.block == reference.block;
      });
  LOCKSTEP_CHECK(block != in_memory_.end(), "a saved block of a cluster is not in memory");
  return give(block);
}

std::pair<BlockGiven, std::vector<std::byte>> BlockExchange::give(
    std::vector<BlockInMemory>::iterator block) {
  BlockGiven given;
  given.given = 1;
  given.block = block->reference;
  given.place = block->number;
  given.bytes = block->bytes;
  given.parts = block->parts;
  // The touched words stay behind.
  given.idempotent = block->progress.idempotent && block->progress.words.empty();
  given.ended_by = block->progress.ended_by;
  given.work = block->progress.work(SmCycle{});
  std::vector<std::byte> payload;
  if (has_local_memory(*block)) {
    l1_.forget_local(block->homes);
    blocks_.homes().lend(block->homes);
    given.homes = static_cast<std::uint32_t>(block->homes.size());
    const auto homes = std::as_bytes(std::span(block->homes));
    payload.assign(homes.begin(), homes.end());
    block->homes.clear();
  }
  given.executed = blocks_.forget_in_memory(block->reference, block->homes, false).executed;
  const std::vector<std::byte> context = engine_.take_kept(block->number);
  payload.insert(payload.end(), context.begin(), context.end());
  in_memory_.erase(block);
  return {given, std::move(payload)};
}

void BlockExchange::adopt(const BlockGiven& given, std::span<const std::byte> payload,
                          SmCycle now) {
  const std::size_t home_bytes = given.homes * sizeof(LocalHome);
  BlockInMemory block;
  block.state = BlockInMemory::State::there;
  block.sent = true;
  block.reference = {given.block.grid, constants_.setup.index, given.block.block};
  block.grid = blocks_.place_of(GridId(given.block.grid));
  block.tenant = TenantId(blocks_.grid(block.grid).launch.tenant);
  block.number = given.place;
  block.bytes = given.bytes;
  block.parts = given.parts;
  block.progress.executed = given.work.executed;
  block.progress.began = SmCycle{} - static_cast<std::int64_t>(given.work.cycles);
  block.progress.idempotent = given.idempotent != 0;
  block.progress.ended_by = given.ended_by;
  if (given.has_position != 0) block.at = given.at;
  block.ready = block.moves = now;
  block.homes = homes_in(payload.first(home_bytes));
  blocks_.homes().borrow(block.homes, block.tenant);
  blocks_.expect_from_memory(block.grid);
  engine_.keep(block.number, payload.subspan(home_bytes));
  in_memory_.push_back(std::move(block));
}

std::vector<LocalHome> BlockExchange::homes_in(std::span<const std::byte> payload) {
  std::vector<LocalHome> homes(payload.size() / sizeof(LocalHome));
  if (!homes.empty()) std::memcpy(homes.data(), payload.data(), payload.size());
  return homes;
}

void BlockExchange::return_homes(SmCycle now) {
  std::erase_if(blocks_.homes().due(), [&](const std::vector<LocalHome>& homes) {
    if (load_store_.queues_access_to(homes)) return false;
    l1_.forget_local(homes);
    if (l1_.writes_back(homes)) return false;
    blocks_.homes().forget(homes);
    free_homes(homes, now);
    return true;
  });
}

/// Homes of another SM go back through the dispatcher, like all messages between SMs.
void BlockExchange::free_homes(const std::vector<LocalHome>& homes, SmCycle now) {
  if (!blocks_.homes().borrowed(homes)) return blocks_.homes().give_back(homes);
  const std::uint32_t owner = homes.front().value() / constants_.local_homes();
  ports_.tell_dispatcher(MessageKind::homes_free, ContextPlace{owner, 0}, now,
                         std::as_bytes(std::span(homes)));
}

}  // namespace lockstep
