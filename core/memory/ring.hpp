#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

/// A FIFO in one piece of memory that grows when full.
template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity = 8)
      : items_(std::bit_ceil(capacity)), mask_(items_.size() - 1) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  /// Returns the i-th element from the front.
  T& operator[](std::size_t i) { return items_[(head_ + i) & mask_]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & mask_]; }

  void push(const T& item) {
    if (size_ > mask_) [[unlikely]]
      grow();
    items_[(head_ + size_) & mask_] = item;
    ++size_;
  }
  void pop() {
    --size_;
    // An empty ring starts again at the place that is warm in this computer's caches.
    head_ = size_ == 0 ? 0 : (head_ + 1) & mask_;
  }

  /// Takes out the first item for which matches(item) is true.  Precondition: there is one.
  template <class Matches>
  T take_first(Matches&& matches) {
    std::size_t i = 0;
    while (!matches((*this)[i])) ++i;
    const T item = (*this)[i];
    for (; i > 0; --i) (*this)[i] = (*this)[i - 1];
    pop();
    return item;
  }

  /// Serialises the waiting elements, from the front.
  template <class Archive>
  void serialize(Archive& archive) {
    std::uint64_t count = size_;
    archive(count);
    archive.require(count, 1);
    if (!archive.is_saving()) {
      items_.resize(std::bit_ceil(std::max(count, items_.size())));
      mask_ = items_.size() - 1;
      head_ = 0;
      size_ = count;
    }
    for (std::size_t i = 0; i < size_; ++i) archive((*this)[i]);
  }

 private:
  [[gnu::noinline]] void grow() {
    std::vector<T> larger(2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    items_ = std::move(larger);
    mask_ = items_.size() - 1;
    head_ = 0;
  }

  std::vector<T> items_;
  std::uint64_t mask_;  ///< places less 1
  std::uint64_t head_ = 0, size_ = 0;
};

}  // namespace lockstep
