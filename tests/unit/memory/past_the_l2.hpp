#pragma once

#include "models/memory/cache_policy/cache_policy.hpp"

namespace lockstep::test {

/// A cache policy that sends the loads and stores of one instruction past the L2.
class PastTheL2 final : public CachePolicy {
 public:
  static constexpr std::uint32_t past = 0xbeef;  ///< its program counter
  PastTheL2() : CachePolicy(admits) {}
  CacheAdmission on_arrival(const MemoryRequest& request, std::uint64_t, Time) override {
    return request.pc == past ? CacheAdmission::to_dram : CacheAdmission::to_bank;
  }
};

}  // namespace lockstep::test
