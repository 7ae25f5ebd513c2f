/// Random eviction: pages, blocks of 64 KiB or large pages of 2 MiB, all with the same probability.
///
/// Source: virtual-memory-and-exceptions.md, section 10 (random4k).
///
/// Simplified: nothing.
#include <utility>

#include "core/random/philox.hpp"
#include "models/driver/eviction/granularity.hpp"
#include "models/driver/eviction/victims.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t eviction_purpose = 0x65766963;  // "evic"

/// The granules in GPU memory are listed in `members_` in any order; choosing draws without
/// replacement and moves each drawn granule to the front.
class RandomEviction final : public Eviction {
 public:
  explicit RandomEviction(const GranularityParameters& parameters)
      : granules_(parameters.pages()) {}

  void arrived(ManagedPage page) override {
    const std::uint32_t granule = granules_.of(page);
    if (!granules_.add(granule)) return;
    if (granule >= place_.size()) place_.resize(granule + 1u);
    place_[granule] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(granule);
  }
  void accessed(ManagedPage) override {}
  void left(ManagedPage page) override {
    const std::uint32_t granule = granules_.of(page);
    if (!granules_.remove(granule)) return;
    swap(place_[granule], members_.size() - 1);
    members_.pop_back();
  }
  void choose(const EvictionView& view, std::uint64_t wanted_pages, std::uint64_t number,
              std::vector<PageRange>& victims) override {
    std::uint64_t found = 0;
    for (std::size_t drawn = 0; drawn < members_.size() && found < wanted_pages; ++drawn) {
      const auto words =
          random_block(view.seed(), ComponentId::none(), eviction_purpose, number << 32 | drawn);
      const std::uint64_t left = members_.size() - drawn;
      swap(drawn, drawn + (words[0] * left >> 32));
      found += append_evictable(view, granules_.pages(members_[drawn]), victims);
    }
    sort_victims(view.residency(), victims);
  }
  void serialize(Archive& archive) override { archive(granules_, members_, place_); }

 private:
  void swap(std::size_t a, std::size_t b) {
    std::swap(members_[a], members_[b]);
    place_[members_[a]] = static_cast<std::uint32_t>(a);
    place_[members_[b]] = static_cast<std::uint32_t>(b);
  }

  Granules granules_;
  std::vector<std::uint32_t> members_;  ///< granules in GPU memory
  std::vector<std::uint32_t> place_;    ///< position of each granule in `members_`
};

}  // namespace

EvictionRow random_eviction() {
  return {"random", "any, with the same probability",
          make_eviction_as<RandomEviction, GranularityParameters>,
          &schema_of<GranularityParameters>()};
}

}  // namespace lockstep
