#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/driver/eviction/eviction.hpp"

namespace lockstep {

/// Managed allocations, the policy that has been told of them, and pages that may not be evicted.
class EvictionBench final : public EvictionView {
 public:
  /// `choice` as under `policies.eviction`.
  explicit EvictionBench(const std::string& choice);
  ~EvictionBench() override;

  /// First page number of a new allocation, all of it at the host.
  ManagedPage add(std::uint64_t pages);
  void arrive(ManagedPage first, std::uint64_t count = 1);
  void leave(ManagedPage first, std::uint64_t count = 1);
  void pin(ManagedPage page, bool pinned = true) { pinned_[page.value()] = pinned; }
  std::vector<PageRange> choose(std::uint64_t wanted);
  /// Victims, which leave.
  std::vector<PageRange> evict(std::uint64_t wanted);
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  const Residency& residency() const override { return residency_; }
  Residency& residency() { return residency_; }
  bool evictable(ManagedPage page) const override;
  std::uint64_t seed() const override { return seed_; }
  TreeDecisions* decisions(TenantId) const override { return &decisions_; }
  /// Nodes of each height that were emptied so far.
  std::vector<std::uint64_t> decided() const;

  std::unique_ptr<Eviction> policy;

 private:
  Residency residency_;
  std::vector<bool> pinned_;
  std::uint64_t seed_ = 1, number_ = 0;
  mutable TreeDecisions decisions_{};
};

}  // namespace lockstep
