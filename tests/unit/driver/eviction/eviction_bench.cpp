#include "tests/unit/driver/eviction/eviction_bench.hpp"

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"

namespace lockstep {
namespace {

struct Chosen {
  PolicyChoice eviction;
  static auto schema() {
    return parameters<Chosen>().policy("eviction", &Chosen::eviction, "lru", eviction_policies,
                                       "the one under test");
  }
};

}  // namespace

EvictionBench::EvictionBench(const std::string& choice)
    : policy(make_eviction(
          read_parameters<Chosen>(parse_document("eviction: " + choice, "test")).eviction)) {}

EvictionBench::~EvictionBench() = default;

ManagedPage EvictionBench::add(std::uint64_t pages) {
  const std::uint32_t index = residency_.add(TenantId{0}, BufferId{0}, VirtualPage{1 << 20}, pages);
  pinned_.resize(residency_.end().value());
  return residency_.allocation(index).first;
}

void EvictionBench::arrive(ManagedPage first, std::uint64_t count) {
  for (ManagedPage page = first; page < first + count; ++page) {
    residency_.set_place(page, PagePlace::gpu);
    policy->arrived(page);
  }
}

void EvictionBench::leave(ManagedPage first, std::uint64_t count) {
  for (ManagedPage page = first; page < first + count; ++page) {
    residency_.set_place(page, PagePlace::leaving);
    policy->left(page);
  }
}

std::vector<PageRange> EvictionBench::choose(std::uint64_t wanted) {
  std::vector<PageRange> victims;
  policy->choose(*this, wanted, number_++, victims);
  return victims;
}

std::vector<PageRange> EvictionBench::evict(std::uint64_t wanted) {
  const std::vector<PageRange> victims = choose(wanted);
  for (const PageRange& range : victims) leave(range.first, range.count);
  return victims;
}

std::vector<std::uint64_t> EvictionBench::decided() const {
  std::vector<std::uint64_t> result;
  for (const Counter& counter : decisions_) result.push_back(counter.value());
  return result;
}

bool EvictionBench::evictable(ManagedPage page) const {
  return residency_.place(page) == PagePlace::gpu && !pinned_[page.value()];
}

}  // namespace lockstep
