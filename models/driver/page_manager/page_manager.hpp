#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/parameters/policy.hpp"
#include "models/driver/frame_allocator.hpp"

namespace lockstep {

/// Plug point `page_manager`: in which pages memory is mapped, and which frames they get.
///
/// Contract: paged memory is mapped and unmapped in multiples of `granule_pages`.  `allocate` gives
/// frames for a range of pages in their order, or nothing when memory does not hold so many.  Where
/// `large` is true for a range, every 512 of its pages that are aligned, and whose frames are,
/// become a large page.  `paged`: memory that comes and goes (managed), not device memory. Source:
/// 004, section 7.2.1 (GPU-MMU with 4 KiB and with 2 MiB pages).
class PageManager {
 public:
  virtual ~PageManager() = default;
  virtual std::uint64_t granule_pages() const = 0;
  virtual bool large(bool paged) const = 0;
  virtual std::vector<FrameRun> allocate(FrameAllocator& frames, std::uint64_t pages,
                                         bool paged) = 0;
};

/// Frames for `pages` pages, as many of them as possible in aligned large frames.
std::vector<FrameRun> allocate_large_first(FrameAllocator& frames, std::uint64_t pages);

using MakePageManager = std::unique_ptr<PageManager> (*)(const PolicyChoice&);
const PolicyRegistry<MakePageManager>& page_managers();
const PolicyList& page_manager_policies();
std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice);

std::unique_ptr<PageManager> make_base_pages(const PolicyChoice&);
std::unique_ptr<PageManager> make_large_pages(const PolicyChoice&);
std::unique_ptr<PageManager> make_mixed_pages(const PolicyChoice&);

}  // namespace lockstep
