#pragma once

#include <string>
#include <vector>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/vm/eviction/eviction.hpp"

namespace lockstep {

/// Managed allocations, the policy that has been told of them, and pages that may not be evicted.
class EvictionBench final : public EvictionView {
 public:
  /// `choice` as under `policies.eviction`.
  explicit EvictionBench(const std::string& choice)
      : policy(make_eviction(
            read_parameters<Choice>(parse_document("eviction: " + choice, "test")).eviction)) {}

  /// First page number of a new allocation, all of it at the host.
  ManagedPage add(std::uint64_t pages) {
    const std::uint32_t index = residency_.add(0, 0, 1 << 20, pages);
    pinned_.resize(residency_.end());
    return residency_.allocation(index).first;
  }
  void arrive(ManagedPage first, std::uint64_t count = 1) {
    for (ManagedPage page = first; page < first + count; ++page) {
      residency_.set_place(page, PagePlace::gpu);
      policy->arrived(page);
    }
  }
  void leave(ManagedPage first, std::uint64_t count = 1) {
    for (ManagedPage page = first; page < first + count; ++page) {
      residency_.set_place(page, PagePlace::leaving);
      policy->left(page);
    }
  }
  void pin(ManagedPage page, bool pinned = true) { pinned_[page] = pinned; }
  std::vector<PageRange> choose(std::uint64_t wanted) {
    std::vector<PageRange> victims;
    policy->choose(*this, wanted, number_++, victims);
    return victims;
  }
  /// Victims, which leave.
  std::vector<PageRange> evict(std::uint64_t wanted) {
    const std::vector<PageRange> victims = choose(wanted);
    for (const PageRange& range : victims) leave(range.first, range.count);
    return victims;
  }
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  const Residency& residency() const override { return residency_; }
  Residency& residency() { return residency_; }
  bool evictable(ManagedPage page) const override {
    return residency_.place(page) == PagePlace::gpu && !pinned_[page];
  }
  std::uint64_t seed() const override { return seed_; }

  std::unique_ptr<Eviction> policy;

 private:
  struct Choice {
    PolicyChoice eviction;
    static auto schema() {
      return parameters<Choice>().policy("eviction", &Choice::eviction, "lru", eviction_policies,
                                         "the one under test");
    }
  };

  Residency residency_;
  std::vector<bool> pinned_;
  std::uint64_t seed_ = 1, number_ = 0;
};

}  // namespace lockstep
