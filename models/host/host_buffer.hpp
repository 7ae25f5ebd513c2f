#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/memory/lazy_region.hpp"
#include "models/workload/content/content.hpp"

namespace lockstep {

/// A buffer's bytes in host memory.  Pages take memory, and their initial content is made, when
/// they are first touched.  Source: architecture.md, section 8 ("The host").
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(std::uint64_t bytes, std::shared_ptr<const Content> content);

  std::uint64_t size() const { return size_; }
  /// Returns bytes [offset, offset + size), ready to read or write.
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t size);
  /// Returns bytes [offset, offset + size), of which the caller writes every one at once.  Initial
  /// content that has been overwritten before anybody looks is never made.
  std::span<std::byte> overwrite(std::uint64_t offset, std::uint64_t size);

  /// Returns whether the page (4 KiB, index in the buffer) has content: initial content, or written
  /// bytes.
  bool has_data(std::uint64_t page) const { return content_ != nullptr || touched_[page] != 0; }

  Known known(std::uint64_t offset, std::uint64_t bytes) const;
  /// Copies bytes [offset, offset + scratch.size()) to `scratch`, and returns them.  Touches no
  /// page.
  std::span<const std::byte> look(std::uint64_t offset, std::span<std::byte> scratch) const;
  /// Does what look() does, but takes pages that `upper`, a buffer of the same size, has touched
  /// from `upper`.
  std::span<const std::byte> look_through(const HostBuffer& upper, std::uint64_t offset,
                                          std::span<std::byte> scratch) const;

  /// Returns whether no page holds anything.
  bool is_untouched() const {
    return content_ == nullptr &&
           std::all_of(touched_.begin(), touched_.end(), [](std::uint8_t t) { return t == 0; });
  }

  template <class Archive>
  void serialize(Archive& archive) {
    const std::size_t pages = touched_.size();
    for (std::size_t page = 0; page < missing_.size(); ++page) complete(page);
    archive(touched_);
    archive.require_length(touched_.size(), pages);
    for (std::size_t page = 0; page < touched_.size(); ++page) {
      if (touched_[page]) archive.bytes(memory_.data() + page * page_size, page_bytes_at(page));
    }
  }

 private:
  static constexpr std::uint64_t page_size = 4096, line_size = 128;
  std::uint64_t page_bytes_at(std::size_t page) const;
  /// Returns the lines of a touched page that still lack their initial content, a bit for each.
  std::uint32_t missing(std::size_t page) const { return missing_.empty() ? 0 : missing_[page]; }
  /// Makes the initial content that a touched page lacks.
  void complete(std::size_t page);
  /// Copies bytes of a touched page.
  void copy(std::uint64_t offset, std::span<std::byte> to) const;

  std::uint64_t size_ = 0;
  std::shared_ptr<const Content> content_;
  LazyRegion memory_;
  std::vector<std::uint8_t> touched_;  ///< one entry per page
  /// Missing lines of each page; empty: none is missing.
  std::vector<std::uint32_t> missing_;
};

}  // namespace lockstep
