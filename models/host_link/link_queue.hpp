#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/host_link/tenant_turns.hpp"
#include "models/host_link/transfer.hpp"

namespace lockstep {

/// Transfers that wait for one direction of the host link: faults before prefetches before copies;
/// within a class as TenantTurns says, a tenant's transfers in order.
/// Source: virtual-memory-and-exceptions.md, sections 4 (a queue per direction) and 18 (order of
/// tenants); the order of the classes is an own choice.
class LinkQueue {
 public:
  explicit LinkQueue(const TenantTurns& turns)
      : classes_{ClassQueue(turns), ClassQueue(turns), ClassQueue(turns)} {}

  bool empty() const { return waiting_ == 0; }
  void push(Transfer::Class rank, std::uint16_t tenant, std::uint32_t transfer) {
    queue(rank, tenant).push_back({arrivals_++, transfer});
    ++waiting_;
  }
  struct Entry {
    std::uint64_t arrival = 0;
    std::uint32_t transfer = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(arrival, transfer);
    }
  };
  /// Puts a transfer with bytes left back as the first one of its tenant.
  void put_back(Transfer::Class rank, std::uint16_t tenant, Entry entry) {
    queue(rank, tenant).push_front(entry);
    ++waiting_;
  }
  /// Takes the transfer whose turn it is.  Precondition: the queue is not empty.
  Entry pop();

  template <class Archive>
  void serialize(Archive& archive) {
    archive(classes_, arrivals_, waiting_);
  }

 private:
  using Waiting = std::deque<Entry>;
  struct ClassQueue {
    explicit ClassQueue(const TenantTurns& order) : turns(order), by_tenant(order.tenants()) {}

    TenantTurns turns;
    std::vector<Waiting> by_tenant;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(turns, by_tenant);
    }
  };

  Waiting& queue(Transfer::Class rank, std::uint16_t tenant) {
    return classes_[static_cast<std::size_t>(rank)].by_tenant[tenant];
  }

  std::array<ClassQueue, 3> classes_;
  std::uint64_t arrivals_ = 0, waiting_ = 0;
};

}  // namespace lockstep
