/// The whole mutable state of an SM, both directions.  Pointers are rebuilt from slots.
#include "models/isa/load.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

void serialize_bytes(Archive& archive, std::vector<std::byte>& bytes) {
  std::uint64_t count = bytes.size();
  archive(count);
  bytes.resize(count);
  archive.bytes(bytes.data(), count);
}

void serialize_warp(Archive& archive, Warp& w) {
  w.paths.serialize(archive);
  archive(w.pending.places, w.loads.places, w.flights, w.stores, w.warp_in_block, w.block, w.grid,
          w.tenant);
}

void serialize_grid(Archive& archive, GridSlot& grid, const StreamingMultiprocessor::Setup& setup,
                    const IssueTables& tables, ConstantRows& constant_rows) {
  archive(grid.used, grid.ended, grid.launch, grid.block, grid.resident_blocks, grid.globals,
          grid.issue_slots, grid.warp_instructions, grid.thread_instructions, grid.unreported);
  serialize_bytes(archive, grid.parameters);
  serialize_bytes(archive, grid.relocated_image);
  if (!grid.used) return;
  grid.find_program(setup.modules, tables, constant_rows);
}

void serialize_block(Archive& archive, BlockSlot& b) {
  archive(b.used, b.grid, b.index, b.coordinates, b.warps, b.alive_threads, b.warps_left,
          b.shared_base, b.shared_bytes, b.first_row, b.rows, b.ordered_stores, b.fresh_stores,
          b.phase, b.gathering);
  for (NamedBarrier& n : b.barriers) archive(n.arrived, n.expected, n.population);
}

}  // namespace

void SmState::serialize(Archive& archive) {
  archive(ready, waiting, memory_open, cycle, wake, accounted, resident, queue_head, queue_count,
          queue_wake, lookup_cycle, lookups, queue_stalled, stalled_by_translation, stalled_since,
          shared_free, gate_wake, shared_carve_out, tenant_blocks, tenant_warps, tenant_counted,
          tenant_violated, fault_waits, fault_waits_counted);
  units.serialize(archive);
  wheel.serialize(archive);
  std::visit([&](auto& policy) { policy.serialize(archive); }, scheduler);
  archive.bytes(queue.data(), queue.size() * sizeof(Access));
  l1.serialize(archive);
  misses.serialize(archive);
  flights.serialize(archive);
  stores.serialize(archive);
  translation.serialize(archive);
  port.serialize(archive);
  reception.serialize(archive);
  serialize_bytes(archive, shared);
  archive(shared_ranges, registers, used);

  std::uint64_t grid_count = grids.size();
  archive(grid_count);
  grids.resize(grid_count);
  for (GridSlot& grid : grids) serialize_grid(archive, grid, setup, *tables, *constant_rows);
  for (BlockSlot& block : blocks) serialize_block(archive, block);
  archive(staged);
  to_dispatcher.serialize(archive);
  to_gmmu.serialize(archive);
  archive(statistics, prints);
  for (std::uint64_t left = resident; left != 0; left &= left - 1)
    serialize_warp(archive, warps[static_cast<unsigned>(std::countr_zero(left))]);
  rebuild_pointers();
}

}  // namespace lockstep
