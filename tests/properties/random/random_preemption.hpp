/// Random ways in which tenants share a GPU, and take SMs from each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing {

/// Tenants of several priorities take SMs from each other as they launch one kernel after another,
/// some of them in turn, some whenever there is a signal.
void preempt_at_random(std::vector<std::string>& settings,
                       std::vector<MachineBench::Application>& tenants, std::uint64_t seed);

/// Blocks of all tenants side by side, of which some leave when others are to have their part.
void share_every_sm(std::vector<std::string>& settings, std::uint64_t seed);

/// Where blocks find room; in one piece, but not wherever parts of others may stand in between.
void place_blocks(std::vector<std::string>& settings, std::uint64_t seed);

/// A module whose kernel `meet` passes values from block to block at barriers of the grid, and a
/// workload that launches it now and then; each block has a page of its own.
std::string cooperative_kernel();
std::string cooperative_workload(unsigned blocks, std::uint64_t seed);

/// Where few pages of 2 MiB come at a time, and blocks leave meanwhile, tenants take pages from
/// each other before they are used (docs/exceptions.md): with room for some more they get on.
void let_large_pages_meet(std::vector<std::string>& settings);

}  // namespace lockstep::testing
