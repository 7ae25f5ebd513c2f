#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lockstep {

/// Constants of the running grids, stored once for all SMs of a rank: rows of 32 lanes, by
/// isa::Program::constants, that every SM only reads.  A copy for each SM would be far away in this
/// computer's caches whenever its turn comes.
class ConstantRows {
 public:
  using Rows = std::shared_ptr<const std::vector<std::uint32_t>>;

  /// Returns rows with these contents, which are kept as long as they are in use.
  Rows share(std::vector<std::uint32_t>&& rows) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    for (const auto& known : known_)
      if (Rows same = known.lock(); same && *same == rows) return same;
    auto fresh = std::make_shared<const std::vector<std::uint32_t>>(std::move(rows));
    known_.push_back(fresh);
    return fresh;
  }

 private:
  std::mutex mutex_;
  /// As many entries as grids.
  std::vector<std::weak_ptr<const std::vector<std::uint32_t>>> known_;
};

}  // namespace lockstep
