#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "models/driver/eviction/eviction.hpp"
#include "models/driver/managed/departures.hpp"

namespace lockstep {

/// Evicts the pages that the eviction policy chooses from a full GPU memory.  Pages that prefer the
/// GPU leave only when there are no others.  Source: virtual-memory-and-exceptions.md, section 10.
class Evictor {
 public:
  /// `name`: name of the policy in scenarios.
  Evictor(std::string name, Eviction& policy, ManagedPages& pages, Departures& departures,
          std::uint64_t seed)
      : name_(std::move(name)),
        policy_(policy),
        pages_(pages),
        departures_(departures),
        seed_(seed) {}

  const std::string& name() const { return name_; }
  /// Returns whether the policy ever takes a page.
  bool evicts() const { return policy_.evicts(); }
  /// Returns false if no page may be taken.
  bool evict(std::uint64_t pages, const HostCycle& cycle);

  template <class Archive>
  void serialize(Archive& archive) {
    policy_.serialize(archive);
    archive(number_);
  }

 private:
  const std::string name_;
  Eviction& policy_;
  ManagedPages& pages_;
  Departures& departures_;
  const std::uint64_t seed_;
  std::uint64_t number_ = 0;  ///< number of the next eviction
};

}  // namespace lockstep
