/// GPU memory that is fragmented before a run: pages of data that belong to no tenant.
///
/// A share of the large frames, drawn at random, holds such pages at random places.  They are never
/// mapped and stay until the end of the run; a page manager may move them.  Their bytes follow from
/// their numbers, so that whoever overwrites or loses one is found out.
/// Source: 004, section 7.5.4; memory-interference.md, section 6.3.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/fragmentation/fragmentation_parameters.hpp"
#include "models/noc/address.hpp"

namespace lockstep {

/// Returns the first place of each foreign page, by its number, in the first `bytes` bytes of GPU
/// memory. No page is at 0, which is never a frame.
std::vector<Frame> foreign_pages(const FragmentationParameters& parameters, std::uint64_t bytes,
                                 std::uint64_t seed);
/// Writes the content of a page from `offset` on, in multiples of 8 bytes.
void write_foreign_bytes(std::uint64_t page, std::uint64_t offset, std::span<std::byte> out);
/// Returns the first of the pages, contiguous in `bytes`, whose bytes have changed.
std::optional<std::uint64_t> find_damaged_page(std::span<const std::byte> bytes);

}  // namespace lockstep
