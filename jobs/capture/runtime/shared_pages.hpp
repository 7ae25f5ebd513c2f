/// Pages of managed memory that the CPU reads and writes between launches, found by page
/// protection.
///
/// After a launch all pages are closed to the CPU; the first access to each raises a signal, is
/// noted, and opens the page.  System calls that would fail on a closed page open it first
/// (admitted.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jobs/capture/protocol.hpp"

namespace lockstep::capture {

/// Notes the CPU's accesses to this memory from now on.
void track_pages(std::uint64_t address, std::uint64_t bytes);
void forget_pages(std::uint64_t address);
/// Takes all tracked pages from the CPU.
void take_pages();
/// Returns the pages that the CPU has touched since then, as runs of pages.
std::vector<Touch> touched_pages();
/// Admits the pages as if the CPU had touched them.
void admit_pages(const void* pointer, std::size_t bytes, bool writes);

/// Tells `lockstep capture` which pages the CPU has touched.
void report_touches();

}  // namespace lockstep::capture
