#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

/// Rule that chooses among tenants that wait for one resource.
/// Source: virtual-memory-and-exceptions.md, section 18 (farfault.sched; fifo is what was
/// published).
enum class TenantOrder : std::uint8_t { fifo, round_robin, priority };

class TenantTurns {
 public:
  /// Makes the turns.  `priorities`: by tenant, larger ones first.
  TenantTurns(TenantOrder order, std::vector<std::uint32_t> priorities)
      : order_(order), priorities_(std::move(priorities)), last_(priorities_.size() - 1) {}

  std::size_t tenants() const { return priorities_.size(); }
  /// Returns the rank of a request: the request with the least rank is next; `arrival` increases
  /// with every request.
  std::pair<std::uint64_t, std::uint64_t> rank(std::size_t tenant, std::uint64_t arrival) const {
    switch (order_) {
      case TenantOrder::fifo:
        break;
      case TenantOrder::round_robin:
        return {(tenant + tenants() - last_ - 1) % tenants(), arrival};
      case TenantOrder::priority:
        return {~std::uint64_t{priorities_[tenant]}, arrival};
    }
    return {0, arrival};
  }
  void took(std::size_t tenant) { last_ = tenant; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(last_);
  }

 private:
  TenantOrder order_;
  std::vector<std::uint32_t> priorities_;
  std::uint64_t last_;  ///< tenant of the last turn
};

}  // namespace lockstep
