#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lockstep {

/// The constants of the grids that run, each once for all SMs of a rank: rows of 32 lanes, by
/// isa::Program::constants, that every SM only reads.  A copy each would be far away in the host's
/// caches whenever the next SM's turn comes.
class ConstantRows {
 public:
  using Rows = std::shared_ptr<const std::vector<std::uint32_t>>;

  /// Rows with these contents; they are kept as long as somebody holds them.
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
