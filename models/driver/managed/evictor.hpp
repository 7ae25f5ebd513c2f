#pragma once

#include <cstdint>

#include "models/driver/eviction/eviction.hpp"
#include "models/driver/managed/departures.hpp"

namespace lockstep {

/// Takes pages off a full GPU memory that the eviction policy names: such as prefer the GPU only
/// when there are no others.  Source: virtual-memory-and-exceptions.md, section 10.
class Evictor {
 public:
  Evictor(Eviction& policy, ManagedPages& pages, Departures& departures, std::uint64_t seed)
      : policy_(policy), pages_(pages), departures_(departures), seed_(seed) {}

  /// Whether it ever takes a page.
  bool evicts() const { return policy_.evicts(); }
  /// False if nothing may be taken.
  bool evict(std::uint64_t pages, const HostCycle& cycle);

  template <class Archive>
  void serialize(Archive& archive) {
    policy_.serialize(archive);
    archive(number_);
  }

 private:
  Eviction& policy_;
  ManagedPages& pages_;
  Departures& departures_;
  const std::uint64_t seed_;
  std::uint64_t number_ = 0;  ///< of the next eviction
};

}  // namespace lockstep
