/// Rearranges mapped pages in GPU memory, for the page manager.
///
/// coalesce: the level-3 entry is written, and the GMMU is told; entries of base pages in TLBs stay
/// valid.  splinter: the large page is unmapped, its entries are written back, and the GMMU is
/// told.  copy: the page is unmapped, its partition copies it to the new frame, its entry is
/// written, the GMMU is told, and the old frame becomes free.  Entries keep their accessed and
/// dirty bits.  Requests of SMs for the page wait at the GMMU meanwhile.
/// Source: 004, sections 7.3.3 and 7.3.4; architecture.md, section 8, rules 7 and 9.
///
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/driver/mapping/memory_access.hpp"
#include "models/driver/mapping/unmapper.hpp"

namespace lockstep {

class Rearranger {
 public:
  Rearranger(PageManager& page_manager, GmmuNews& news, Unmapper& unmapper)
      : page_manager_(page_manager), news_(news), unmapper_(unmapper) {}

  // Pages that are mapped in GPU memory and at rest.
  void coalesce(const TenantPages& pages, const HostCycle& cycle);
  void splinter(const TenantPages& pages, const HostCycle& cycle);
  void copy(const TenantPages& page, Frame to, const HostCycle& cycle);
  /// Splinters the large pages that contain the pages.  A part of a large page cannot be unmapped,
  /// since its accessed and dirty bits cover the whole page.  Returns the number of large pages.
  std::uint32_t splinter_parts(const TenantPages& pages, const HostCycle& cycle);

  // Answers.
  struct Finished {
    TenantPages pages;
    std::vector<FrameRun> left;  ///< frames that nothing uses any more
  };
  void unmapped(const Unmapped& unmapped, const HostCycle& cycle);
  void copied(std::uint32_t number, const HostCycle& cycle) { restore_entries(number, cycle); }
  void written(std::uint32_t number, const HostCycle& cycle);
  /// Returns the rearrangements that the GMMU has been told of since the last call.
  std::vector<Finished> take_finished() { return std::exchange(finished_, {}); }

  bool holds(const TenantPages& pages) const;
  std::size_t under_way() const { return rearrangements_.size() - free_.size(); }
  void serialize(Archive& archive);

 private:
  struct Rearrangement {
    TenantPages pages;
    enum class Kind : std::uint8_t { coalesce, splinter, copy };
    Kind kind = Kind::coalesce;
    Frame to;                            ///< destination of a copy
    std::vector<std::uint64_t> entries;  ///< entries before the rearrangement
    std::vector<FrameRun> left;          ///< frames that nothing will use any more
    std::uint64_t missing = 0;           ///< missing answers
    template <class Archive>
    void serialize(Archive& archive) {
      archive(pages, kind, to, entries, left, missing);
    }
  };

  std::uint32_t begin(const TenantPages& pages, Rearrangement::Kind kind);
  void write(std::uint32_t number, const std::vector<TableWrite>& writes, const HostCycle& cycle);
  void finish(std::uint32_t number, const HostCycle& cycle);
  void restore_entries(std::uint32_t number, const HostCycle& cycle);

  PageManager& page_manager_;
  GmmuNews& news_;
  Unmapper& unmapper_;
  std::vector<Rearrangement> rearrangements_;
  std::vector<std::uint32_t> free_;
  std::vector<Finished> finished_;  ///< rearrangements finished in the current call
};

}  // namespace lockstep
