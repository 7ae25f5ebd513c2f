#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/parameters/policy.hpp"
#include "models/vm/frame_allocator.hpp"

namespace lockstep {

/// Plug point `page_manager`: in which pieces memory is mapped, and which frames they get.
///
/// Contract: ranges of a tenant's pages start and end at multiples of `granule_pages` when they are
/// mapped and unmapped; `allocate` gives frames for such a range in the order of its pages, or
/// nothing when memory does not hold so many.
/// Source: 004, section 7.2.1 (GPU-MMU with 4 KiB and with 2 MiB pages).
class PageManager {
 public:
  virtual ~PageManager() = default;
  virtual std::uint64_t granule_pages() const = 0;
  /// Whether a granule gets the `large` bit.
  virtual bool large() const = 0;
  virtual std::vector<FrameRun> allocate(FrameAllocator& frames, std::uint64_t pages) = 0;
};

using MakePageManager = std::unique_ptr<PageManager> (*)(const PolicyChoice&);
const PolicyRegistry<MakePageManager>& page_managers();
const PolicyList& page_manager_policies();
std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice);

std::unique_ptr<PageManager> make_base_pages(const PolicyChoice&);
std::unique_ptr<PageManager> make_large_pages(const PolicyChoice&);

}  // namespace lockstep
