/// No eviction: what is in GPU memory stays until the CPU wants it or its tenant ends, and a tenant
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

std::unique_ptr<Eviction> make_no_eviction(const PolicyChoice&) {
  return std::make_unique<NoEviction>();
}

}  // namespace lockstep
