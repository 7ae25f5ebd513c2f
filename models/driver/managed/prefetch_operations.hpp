#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error/error.hpp"

namespace lockstep {

/// Prefetch steps of programs with pages on their way.  A step is done when all its ranges are
/// done.
class PrefetchOperations {
 public:
  /// Number of the operation of pages that no step asked for.
  static constexpr std::uint64_t none = 0;

  /// Begins a step with a count of one, so that it does not end before all its ranges are
  /// requested.
  void begin(std::uint64_t id) { operations_.push_back({id, 1}); }
  void expect_one(std::uint64_t id) {
    if (id != none) ++find(id)->missing;
  }
  void one_done(std::uint64_t id) {
    if (id == none) return;
    const auto operation = find(id);
    if (--operation->missing > 0) return;
    finished_.push_back(id);
    operations_.erase(operation);
  }
  std::vector<std::uint64_t> take_finished() { return std::exchange(finished_, {}); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(operations_, finished_);
  }

 private:
  struct Operation {
    std::uint64_t id = none;
    std::uint64_t missing = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(id, missing);
    }
  };

  std::vector<Operation>::iterator find(std::uint64_t id) {
    const auto operation = std::find_if(operations_.begin(), operations_.end(),
                                        [&](const Operation& o) { return o.id == id; });
    LOCKSTEP_CHECK(operation != operations_.end(), "pages move for a prefetch nobody asked for");
    return operation;
  }

  std::vector<Operation> operations_;
  std::vector<std::uint64_t> finished_;
};

}  // namespace lockstep
