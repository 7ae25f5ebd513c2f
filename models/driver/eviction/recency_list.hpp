#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// Numbers in the order of their last touch: a doubly linked list in two flat arrays.
class RecencyList {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  bool contains(std::uint32_t number) const {
    return number < links_.size() && links_[number].older != absent;
  }
  /// Makes the entry the most recent one, and adds it if it is absent.
  void touch(std::uint32_t number) {
    if (number >= links_.size()) links_.resize(number + 1u);
    if (number == newest_) return;
    if (contains(number)) remove(number);
    links_[number] = {newest_, none};
    (newest_ == none ? oldest_ : links_[newest_].newer) = number;
    newest_ = number;
  }
  void remove(std::uint32_t number) {
    const Links links = links_[number];
    (links.older == none ? oldest_ : links_[links.older].newer) = links.newer;
    (links.newer == none ? newest_ : links_[links.newer].older) = links.older;
    links_[number] = {};
  }
  std::uint32_t oldest() const { return oldest_; }
  std::uint32_t next_newer(std::uint32_t number) const { return links_[number].newer; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(links_, oldest_, newest_);
  }

 private:
  static constexpr std::uint32_t absent = none - 1;
  struct Links {
    std::uint32_t older = absent, newer = absent;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(older, newer);
    }
  };

  std::vector<Links> links_;
  std::uint32_t oldest_ = none, newest_ = none;
};

}  // namespace lockstep
