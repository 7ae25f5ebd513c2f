/// Tensor maps that the engine for bulk copies keeps, the one used longest ago leaving first.
///
/// A map in global memory is kept with its bytes until an acquire or a new grid lets L1 forget what
/// may be of old; of one among parameters or constants, which do not change, only that it is here.
/// Source: modern-isa.md, section 5.6.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/isa/bulk/tensor_map.hpp"

namespace lockstep {

class MapCache {
 public:
  /// `version`: version of the bytes at the address, which may change.
  struct Key {
    std::uint64_t address = 0;
    std::uint32_t version = 0;
    std::uint32_t tenant = 0;

    bool operator==(const Key&) const = default;
    template <class A>
    void serialize(A& archive) {
      archive(address, version, tenant);
    }
  };

  explicit MapCache(std::size_t entries) : entries_(entries) {}

  /// Returns the bytes of the map and marks it as used last; nullptr: the map is not kept.
  const isa::TensorMap::Bytes* find(const Key& key) {
    const auto found = std::ranges::find(kept_, key, &Kept::key);
    if (found == kept_.end()) return nullptr;
    std::rotate(found, found + 1, kept_.end());
    return &kept_.back().bytes;
  }
  void keep(const Key& key, const isa::TensorMap::Bytes& bytes) {
    if (find(key) != nullptr) {
      kept_.back().bytes = bytes;
      return;
    }
    if (kept_.size() == entries_) kept_.erase(kept_.begin());
    kept_.push_back({key, bytes});
  }

  void serialize(Archive& archive) { archive(kept_); }

 private:
  struct Kept {
    Key key;
    isa::TensorMap::Bytes bytes{};

    template <class A>
    void serialize(A& archive) {
      archive(key, bytes);
    }
  };

  std::size_t entries_;
  std::vector<Kept> kept_;  ///< kept maps; the last one was used last
};

}  // namespace lockstep
