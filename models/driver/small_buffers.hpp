/// Pages of 2 MiB that the small device buffers of a tenant share.
///
/// A buffer of up to 1 MiB gets the next bytes of the first page that has room for it, from a
/// multiple of 512 on; a larger buffer has pages of its own.  A page is freed with its last buffer.
/// Source: CUDA C++ Programming Guide (cudaMalloc aligns to 256 bytes at least); memory of a GPU
/// comes in units of 2 MiB (cuMemGetAllocationGranularity).  From which size on a buffer has its
/// own is in no publication.
///
/// Simplified: the bytes of a freed buffer are not used again before the page is freed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/noc/address.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

class SmallBuffers {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

  /// Returns the address of a buffer of `bytes` bytes if a page has room; otherwise the caller must
  /// add a page.
  std::optional<VirtualAddress> take(std::uint64_t bytes) {
    for (Page& page : pages_)
      if (page.used + bytes <= large_page_bytes) return page.take(bytes);
    return std::nullopt;
  }
  /// Returns the place of a buffer of `bytes` bytes in a new page.
  VirtualAddress add(VirtualPage first, std::uint64_t bytes) {
    return pages_.emplace_back(Page{first, 0, 0}).take(bytes);
  }
  /// Removes the buffer at this place. Returns whether its page is freed too.
  bool leave(VirtualAddress place) {
    const auto page = std::find_if(pages_.begin(), pages_.end(), [&](const Page& other) {
      return page_of(place) - other.first < pages_per_large;
    });
    LOCKSTEP_CHECK(page != pages_.end(), "a buffer leaves a page that it does not lie in");
    if (--page->buffers > 0) return false;
    pages_.erase(page);
    return true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(pages_);
  }

 private:
  static constexpr std::uint64_t alignment = 512;
  struct Page {
    VirtualPage first;
    std::uint64_t used = 0;  ///< bytes used
    std::uint32_t buffers = 0;

    VirtualAddress take(std::uint64_t bytes) {
      const VirtualAddress place = address_of(first) + used;
      used += round_up(bytes, alignment);
      ++buffers;
      return place;
    }
    template <class Archive>
    void serialize(Archive& archive) {
      archive(first, used, buffers);
    }
  };

  std::vector<Page> pages_;
};

}  // namespace lockstep
