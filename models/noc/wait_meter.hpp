#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/statistics/counters.hpp"

namespace lockstep {

/// Interference at one queue: the cycles for which requests of each tenant waited, and the tenants
/// that they waited for.
///
/// Every request in the queue waits while the server is busy.  charge() charges the waiting time of
/// all of them since the last call to the tenant that held the server.  A call costs time by the
/// number of tenants and not of requests: the sum of (now - entered) needs only a count and a sum.
/// Both may wrap around, because differences are charged. Source: architecture.md, section 3
/// "interference attribution".
class WaitMeter {
 public:
  explicit WaitMeter(std::size_t tenants = 0) : tenants_(tenants) {}

  void enter(std::size_t tenant, std::int64_t cycle) {
    tenants_[tenant].sum -= static_cast<std::uint64_t>(cycle);
    ++tenants_[tenant].count;
  }
  void leave(std::size_t tenant, std::int64_t cycle) {
    tenants_[tenant].sum += static_cast<std::uint64_t>(cycle);
    --tenants_[tenant].count;
  }
  /// `cycle` is not before any enter() or leave() so far.
  void charge(PerTenantPair& matrix, std::size_t culprit, std::int64_t cycle) {
    std::size_t victim = 0;
    for (Tenant& t : tenants_) {
      const std::uint64_t waited = t.sum + t.count * static_cast<std::uint64_t>(cycle);
      matrix.at(victim++, culprit) += waited - t.charged;
      t.charged = waited;
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(tenants_);
  }

 private:
  struct Tenant {
    std::uint64_t sum = 0, count = 0, charged = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(sum, count, charged);
    }
  };
  std::vector<Tenant> tenants_;
};

/// Waits in front of a server that serves one request after the other, charged to the tenant served
/// last. A request at an idle server waits for no other tenant.
class ServerWaits {
 public:
  explicit ServerWaits(std::size_t tenants = 0) : meter_(tenants) {}

  void enter(std::uint16_t tenant, std::int64_t now) {
    if (waiting_++ == 0 && now >= free_) holder_ = tenant;
    meter_.enter(tenant, now);
  }
  /// A request of the tenant is taken, and the server is not free before `free`.
  void take(std::uint16_t tenant, std::int64_t now, std::int64_t free, PerTenantPair& matrix) {
    hold(tenant, now, free, matrix);
    meter_.leave(tenant, now);
    --waiting_;
  }
  /// Does enter() and take() for a request with no other before or behind it, which waits for
  /// nothing.
  void pass(std::uint16_t tenant, std::int64_t now, std::int64_t free) {
    charged_ = std::max(charged_, now);
    holder_ = tenant;
    free_ = free;
  }
  /// Notes that a request holds the server which did not wait, or had been taken before.
  void hold(std::uint16_t tenant, std::int64_t now, std::int64_t free, PerTenantPair& matrix) {
    if (waiting_ > 0 && now > charged_) {
      meter_.charge(matrix, holder_, now);
      charged_ = now;
    }
    holder_ = tenant;
    free_ = free;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(meter_, waiting_, free_, charged_, holder_);
  }

 private:
  WaitMeter meter_;
  std::uint32_t waiting_ = 0;
  std::int64_t free_ = 0, charged_ = 0;
  std::uint16_t holder_ = 0;
};

}  // namespace lockstep
