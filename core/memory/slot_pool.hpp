#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/memory/warm.hpp"

namespace lockstep {

/// Records addressed by a 16-bit index; the last freed one is used first, and the pool grows as
/// needed.
template <class T>
class SlotPool {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::uint16_t none = 0xffff;

  std::uint16_t take() {
    ++used_;
    if (free_.empty()) {
      LOCKSTEP_CHECK(items_.size() < none, "too many records in flight");
      items_.emplace_back();
      return static_cast<std::uint16_t>(items_.size() - 1);
    }
    const std::uint16_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void give_back(std::uint16_t index) {
    --used_;
    free_.push_back(index);
  }
  /// Brings the records that will be taken next into the cache.
  void warm_next(std::size_t count) const {
    for (std::size_t i = 1; i <= std::min(count, free_.size()); ++i)
      warm(&items_[free_[free_.size() - i]]);
  }
  T& operator[](std::size_t index) { return items_[index]; }
  const T& operator[](std::size_t index) const { return items_[index]; }
  std::size_t used() const { return used_; }
  /// Calls function(index) for each record in use, by index; this is slow.
  template <class Function>
  void for_each_used(Function&& function) const {
    std::vector<bool> is_free(items_.size());
    for (const std::uint16_t index : free_) is_free[index] = true;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!is_free[i]) function(static_cast<std::uint16_t>(i));
  }
  std::size_t capacity() const { return items_.size(); }

  /// Serialises the records that are in use; the contents of free records mean nothing.
  void serialize(Archive& archive) {
    std::uint64_t count = items_.size();
    archive(used_, free_, count);
    if (!archive.is_saving()) items_.assign(count, T{});
    for_each_used([&](std::uint16_t index) { archive(items_[index]); });
  }

 private:
  std::vector<T> items_;
  std::vector<std::uint16_t> free_;
  std::uint64_t used_ = 0;
};

}  // namespace lockstep
