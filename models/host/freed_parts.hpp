#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

/// Bytes of a device buffer, whole pages, that are freed before the rest.
class FreedParts {
 public:
  struct Part {
    std::uint64_t begin = 0, end = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(begin, end);
    }
  };

  bool empty() const { return parts_.empty(); }
  void add(const Part& part) {
    parts_.insert(std::upper_bound(parts_.begin(), parts_.end(), part,
                                   [](const Part& a, const Part& b) { return a.begin < b.begin; }),
                  part);
  }
  /// Returns a freed part that lies at least partly in [begin, end).
  std::optional<Part> find(std::uint64_t begin, std::uint64_t end) const {
    for (const Part& part : parts_)
      if (part.begin < end && begin < part.end) return part;
    return std::nullopt;
  }
  /// Returns the parts of [begin, end) that are still there.
  std::vector<Part> rest(std::uint64_t begin, std::uint64_t end) const {
    std::vector<Part> rest;
    for (const Part& part : parts_) {
      if (part.end <= begin || part.begin >= end) continue;
      if (begin < part.begin) rest.push_back({begin, part.begin});
      begin = std::max(begin, part.end);
    }
    if (begin < end) rest.push_back({begin, end});
    return rest;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(parts_);
  }

 private:
  std::vector<Part> parts_;  ///< parts by address, without overlap
};

}  // namespace lockstep
