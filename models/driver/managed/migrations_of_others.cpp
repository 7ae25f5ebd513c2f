/// Migrations whose bytes come from other GPUs, over the fabric (see migrations.hpp).
#include <algorithm>

#include "models/driver/managed/migration_request.hpp"
#include "models/driver/managed/migrations.hpp"

namespace lockstep {

void Migrations::go_on(const HostCycle& cycle) {
  for (const std::uint32_t index : std::exchange(fetching_, {})) {
    if (parts_.pages.is_ready(migrations_[index].range)) {
      bring(index, cycle);
    } else {
      fetching_.push_back(index);
    }
  }
}

/// Units that no other GPU has come from the host, after the others have come.
void Migrations::bring(std::uint32_t index, const HostCycle& cycle) {
  const PageRange range = migrations_[index].range;
  if (!parts_.pages.buffer_of(range.first).is_shared()) return map(index, cycle);
  for (const PageRange& unit : granules_in(parts_.pages, range)) {
    const std::vector<FrameRun> to =
        part_of(migrations_[index].frames, (unit.first - range.first) * page_bytes,
                unit.count * page_bytes);
    if (!parts_.pages.bring(unit, to, index, cycle)) continue;
    migrations_[index].brought.push_back(unit);
    ++migrations_[index].missing;
  }
  if (migrations_[index].missing == 0) map(index, cycle);
}

void Migrations::has_come(std::uint32_t index, const HostCycle& cycle) {
  if (--migrations_[index].missing == 0) map(index, cycle);
}

/// Takes in pages that leave other GPUs, if there is room. No page is evicted for them, and
/// migrations that wait for room here go first.
void Migrations::take_in(std::uint32_t allocation, std::uint64_t unit, const HostCycle& cycle) {
  const PageRange range = parts_.pages.pages_of_units(allocation, unit, 1);
  const bool is_held = parts_.pages.buffer(allocation).holds > 0 ||
                       parts_.directory.is_leaving(parts_.pages.owner(range.first).tenant);
  if (is_held || !waiting_.empty()) return;
  const std::uint64_t pages = parts_.driver.mapped_pages(range.count * page_bytes);
  if (parts_.driver.free_bytes() < pages * page_bytes) return;
  const TenantPages wanted{parts_.pages.owner(range.first).tenant,
                           parts_.pages.virtual_page(range.first), pages};
  if (!parts_.driver.settle(wanted, cycle)) return;
  std::vector<FrameRun> frames = parts_.driver.take_frames(wanted, true);
  if (frames.empty()) return;
  if (!parts_.pages.claim_spilled(allocation, unit))
    return parts_.driver.give_back(wanted.tenant, frames, cycle);
  Migration migration;
  migration.taken_in = true;
  migration.range = range;
  migration.not_before = cycle.now;
  start(begin(migration), std::move(frames), cycle);
}

}  // namespace lockstep
