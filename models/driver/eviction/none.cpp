/// No eviction: pages stay in GPU memory until the CPU wants them or their tenant ends.  A tenant
/// whose fault finds no room ends with a message.
///
/// Source: virtual-memory-and-exceptions.md, section 10 (`evict = none`).
///
/// Simplified: nothing.
#include "models/driver/eviction/eviction.hpp"

namespace lockstep {
namespace {

class NoEviction final : public Eviction {
 public:
  bool evicts() const override { return false; }
  void arrived(ManagedPage) override {}
  void accessed(ManagedPage) override {}
  void left(ManagedPage) override {}
  void choose(const EvictionView&, std::uint64_t, std::uint64_t, std::vector<PageRange>&) override {
  }
  void serialize(Archive&) override {}
};

}  // namespace

EvictionRow no_eviction() {
  return {"none", "nothing leaves: who needs room when memory is full ends",
          make_eviction_as<NoEviction>};
}

}  // namespace lockstep
