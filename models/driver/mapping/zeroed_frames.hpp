/// Granules of zeroed frames, kept ready at the GMMU for handlers of untouched pages.
///
/// The driver takes free frames without evicting pages, has them zeroed and tells the GMMU; each
/// granule that a handler has used up is replaced.
/// Source: 000, section 4.2; virtual-memory-and-exceptions.md, section 9; architecture.md, section
/// 8, rule 10.
#pragma once

#include <cstdint>
#include <vector>

#include "models/driver/mapping/gmmu_news.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class ZeroedFrames {
 public:
  ZeroedFrames(PageManager& page_manager, GmmuNews& news, std::uint32_t partitions)
      : page_manager_(page_manager), news_(news), partitions_(partitions) {}

  /// Keeps this number of granules ready.
  void keep(std::uint32_t granules) { wanted_ = granules; }
  /// Takes frames for missing granules, as far as memory has them.
  void refill(const HostCycle& cycle);
  /// Returns false if these are no frames of it.
  bool zero_done(const ZeroRange& range, const HostCycle& cycle);
  /// Notes that a handler has used a granule up.
  void used() { --granules_; }
  /// Returns whether no frame is being zeroed.
  bool idle() const { return batches_.empty(); }
  std::uint64_t bytes() const { return granules_ * pages_per_block * page_bytes; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(granules_, batches_);
  }

 private:
  /// A granule that is being zeroed.
  struct Batch {
    GranuleFrames frames{};
    std::vector<FrameRun> zeroing;
    std::uint64_t missing = 0;  ///< missing answers
    template <class Archive>
    void serialize(Archive& archive) {
      archive(frames, zeroing, missing);
    }
  };

  PageManager& page_manager_;
  GmmuNews& news_;
  const std::uint32_t partitions_;
  std::uint32_t wanted_ = 0;
  std::uint64_t granules_ = 0;  ///< granules at the GMMU or on their way there
  std::vector<Batch> batches_;
};

}  // namespace lockstep
