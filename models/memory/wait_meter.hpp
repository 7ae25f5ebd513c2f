#pragma once

#include <cstdint>
#include <vector>

#include "core/statistics/counters.hpp"

namespace lockstep {

/// Interference attribution at one queue: for how many cycles requests of each tenant waited, and
/// behind whom.
///
/// Every request in the queue waits while the server is taken; charge() books what all of them
/// waited since the last call on the tenant that held the server.  Cost per call is the number of
/// tenants, not of requests: the sum of (now - entered) needs only a count and a sum.
/// Source: architecture.md, section 3 "interference attribution".
class WaitMeter {
 public:
  explicit WaitMeter(std::size_t tenants = 0) : tenants_(tenants) {}

  void enter(std::size_t tenant, std::int64_t cycle) {
    tenants_[tenant].sum -= cycle;
    ++tenants_[tenant].count;
  }
  void leave(std::size_t tenant, std::int64_t cycle) {
    tenants_[tenant].sum += cycle;
    --tenants_[tenant].count;
  }
  /// `cycle` is not before any enter() or leave() so far.
  void charge(PerTenantPair& matrix, std::size_t culprit, std::int64_t cycle) {
    for (std::size_t victim = 0; victim < tenants_.size(); ++victim) {
      Tenant& t = tenants_[victim];
      const std::int64_t waited = t.sum + t.count * cycle;
      matrix.at(victim, culprit) += static_cast<std::uint64_t>(waited - t.charged);
      t.charged = waited;
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenants_);
  }

 private:
  struct Tenant {
    std::int64_t sum = 0, count = 0, charged = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(sum, count, charged);
    }
  };
  std::vector<Tenant> tenants_;
};

}  // namespace lockstep
