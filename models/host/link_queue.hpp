#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/host/transfer.hpp"

namespace lockstep {

/// Transfers that wait for one direction of the host link: faults before prefetches before copies;
/// within a class the tenants in turn, a tenant's transfers in order.
/// Source: virtual-memory-and-exceptions.md, sections 4 (a queue per direction) and 18 (tenants in
/// turn); the order of the classes is an own choice.
class LinkQueue {
 public:
  explicit LinkQueue(std::size_t tenants) {
    for (ClassQueue& one : classes_) {
      one.by_tenant.resize(tenants);
      one.last_tenant = tenants - 1;
    }
  }

  bool empty() const { return waiting_ == 0; }
  void push(Transfer::Class rank, std::uint16_t tenant, std::uint32_t transfer) {
    queue(rank, tenant).push_back(transfer);
    ++waiting_;
  }
  /// A transfer that was taken and has bytes left is its tenant's next one again.
  void put_back(Transfer::Class rank, std::uint16_t tenant, std::uint32_t transfer) {
    queue(rank, tenant).push_front(transfer);
    ++waiting_;
  }
  /// Takes the transfer whose turn it is; not when empty.
  std::uint32_t pop();

  template <class Archive>
  void serialize(Archive& archive) {
    archive(classes_, waiting_);
  }

 private:
  using Waiting = std::deque<std::uint32_t>;
  struct ClassQueue {
    std::vector<Waiting> by_tenant;
    std::uint64_t last_tenant = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(by_tenant, last_tenant);
    }
  };

  Waiting& queue(Transfer::Class rank, std::uint16_t tenant) {
    return classes_[static_cast<std::size_t>(rank)].by_tenant[tenant];
  }

  std::array<ClassQueue, 3> classes_;
  std::uint64_t waiting_ = 0;
};

}  // namespace lockstep
