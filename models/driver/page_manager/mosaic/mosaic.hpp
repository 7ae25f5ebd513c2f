/// Mosaic: base pages are allocated so that they can become large pages where they lie.
///
/// CoCoA (large_frames.hpp) chooses frames; when all 512 pages of 2 MiB of addresses have come into
/// one large frame, in their order, they are coalesced: the level-3 entry becomes large, no data
/// moves, and no TLB is flushed (mosaic.cpp).  What is freed of a large page leaves holes; when few
/// pages are left in use, it is splintered and they move to other frames of their tenant, within
/// their memory channel (CaC, compaction.cpp).  Frames that only foreign pages lie in are emptied
/// in the same way when no other is left (foreign_frames.cpp). Source: 004, section 7.3;
/// memory-interference.md, sections 6.3.2, 6.3.3 and 6.3.4.
///
/// Simplified: pages that may not be written are not coalesced, since each of them may become
/// writable on its own.
#pragma once

#include <map>
#include <vector>

#include "models/driver/page_manager/mosaic/large_frames.hpp"
#include "models/driver/page_manager/mosaic/mosaic_parameters.hpp"
#include "models/driver/page_manager/mosaic/mosaic_statistics.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

class Mosaic final : public PageManager {
 public:
  Mosaic(const MosaicParameters& parameters, const Setup& setup);

  std::uint64_t capacity_unit() const override { return pages_per_large; }
  std::vector<FrameRun> allocate(const TenantPages& pages, bool paged) override;
  void reserved(const TenantPages& pages) override;
  void free(TenantId tenant, std::span<const FrameRun> frames, PageServices& services) override;
  bool leave_holes(const TenantPages& pages, PageServices& services) override;
  bool is_hole(PhysicalAddress page) const override;
  bool settle(const TenantPages& pages, PageServices& services) override;
  bool holds_issue() const override {
    return parameters_.stall && !(compactions_.empty() && emptying_.empty());
  }
  Time copy_time() const override { return copy_time_; }
  void transfer_finished(const TenantPages& pages, PageServices& services) override;
  void rearranged(const TenantPages& pages, PageServices& services) override;
  void foreign_moved(std::uint32_t number, Frame to, PageServices& services) override;
  void end_tenant(TenantId tenant) override;
  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override;

 private:
  using Regions = std::vector<std::uint64_t>;  ///< sorted region numbers: address / 2 MiB
  /// A large frame whose page is splintered, and whose pages then move.
  struct Compaction {
    std::uint32_t number = 0;
    TenantPages large;
    bool moves = false;  ///< true: pages move; false: only the holes are wanted
    /// Pages being copied; empty: the large page is being splintered.
    std::vector<VirtualPage> copying;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(number, large, moves, copying);
    }
  };

  /// A large frame that foreign pages leave.
  struct Emptying {
    std::uint32_t number = 0;
    std::uint64_t missing = 0;  ///< pages on their way
    template <class Archive>
    void serialize(Archive& archive) {
      archive(number, missing);
    }
  };

  // Frames and large pages (mosaic.cpp).
  PhysicalAddress take_table_frame(TenantId tenant) override;
  void free_table_frame(PhysicalAddress frame) override;
  PhysicalAddress take_page(TenantId tenant, VirtualPage page);
  void coalesce_if_full(std::uint32_t number, PageServices& services);
  void try_again(PageServices& services);
  void count();

  // Compaction (compaction.cpp).
  void look_at_holes(std::uint32_t number, PageServices& services);
  bool splinter(std::uint32_t number, bool moves, PageServices& services);
  void splintered(Compaction& compaction, PageServices& services);
  bool move(const Compaction& compaction, VirtualPage page, PageServices& services);
  void end_compaction(std::size_t index);

  // Frames with foreign pages (foreign_frames.cpp).
  std::uint64_t frames_wanted(const TenantPages& pages) const;
  bool empty_frames(std::uint64_t wanted, PageServices& services);
  bool empty_frame(PageServices& services);
  std::vector<PhysicalAddress> places_elsewhere(std::uint32_t number) const;

  const MosaicParameters parameters_;
  const AddressMapping mapping_;
  const Time copy_time_;
  const LargeFrames::Owner driver_;  ///< owner of the frames with page tables
  LargeFrames large_;
  std::map<Frame, std::uint32_t> foreign_numbers_;  ///< number of the foreign page in each frame
  std::vector<Regions> whole_;            ///< regions of each tenant that lie wholly in one buffer
  std::vector<std::uint32_t> refused_;    ///< full frames whose pages were not at rest
  std::vector<std::uint32_t> emergency_;  ///< large pages with holes, the oldest first
  std::vector<Compaction> compactions_;
  std::vector<Emptying> emptying_;
  MosaicStatistics statistics_;
};

}  // namespace lockstep
