#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

/// First-fit ranges of a small index space: register rows, shared memory bytes.
class RangeAllocator {
 public:
  RangeAllocator() = default;
  explicit RangeAllocator(std::uint32_t size) { reset(size); }

  /// Frees everything.
  void reset(std::uint32_t size) { free_.assign(1, {0, size}); }
  std::optional<std::uint32_t> take(std::uint32_t size) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      Range& range = free_[i];
      if (range.size < size) continue;
      const std::uint32_t base = range.base;
      range.base += size;
      range.size -= size;
      if (range.size == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      return base;
    }
    return std::nullopt;
  }
  void give_back(std::uint32_t base, std::uint32_t size) {
    if (size == 0) return;
    std::size_t i = 0;
    while (i < free_.size() && free_[i].base < base) ++i;
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i), {base, size});
    if (i + 1 < free_.size() && free_[i].base + free_[i].size == free_[i + 1].base) {
      free_[i].size += free_[i + 1].size;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    if (i > 0 && free_[i - 1].base + free_[i - 1].size == free_[i].base) {
      free_[i - 1].size += free_[i].size;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(free_);
  }

 private:
  struct Range {
    std::uint32_t base = 0, size = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(base, size);
    }
  };
  std::vector<Range> free_;
};

}  // namespace lockstep
