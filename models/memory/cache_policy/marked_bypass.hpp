#pragma once

#include "models/memory/cache_policy/cache_policy.hpp"

namespace lockstep {

/// The L2's part of policies whose SM side marks the requests that bypass the L2.
class MarkedBypass final : public CachePolicy {
 public:
  MarkedBypass() : CachePolicy(admits | inserts) {}

  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t, Time) override {
    return (request.marks & mark_bypass) != 0 ? CacheAdmission::to_dram : CacheAdmission::to_bank;
  }
  /// Atomics look up all the same, and leave nothing behind.
  CacheInsertion on_insertion(const MemoryRequest& request, std::uint64_t, Time) override {
    return {.allocate = (request.marks & mark_bypass) == 0};
  }
};

}  // namespace lockstep
