#pragma once

#include <cstddef>
#include <span>

#include "models/driver/host_cycle.hpp"
#include "models/driver/page_manager/page_tables.hpp"
#include "models/host_link/request_owner.hpp"

namespace lockstep {

/// Writes changed entries of a page table to GPU memory.
void send_table_write(const TableWrite& write, TenantId tenant, RequestOwner owner,
                      const HostCycle& cycle);
/// Has frames zeroed by all partitions. Returns the number of answers to come.
std::uint64_t send_zero_ranges(std::span<const FrameRun> frames, std::uint32_t partitions,
                               const HostCycle& cycle);

}  // namespace lockstep
