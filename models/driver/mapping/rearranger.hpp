/// Changes how pages that are mapped lie in GPU memory, for the page manager.
///
/// coalesce: the level-3 entry is written, and the GMMU is told; entries of base pages that TLBs
/// keep stay right.  splinter: the large page is unmapped, its entries are written back, and the
/// GMMU is told.  copy: the page is unmapped, its lines are read and written to the new frame, its
/// entry is written, the GMMU is told, and the old frame comes free.  Entries keep their accessed
/// and dirty bits.  What an SM asks of a page meanwhile waits at the GMMU for the news.
/// Source: 004, sections 7.3.3 and 7.3.4; architecture.md, section 8, rules 7 and 9.
///
/// Simplified: a copy goes through the driver, line by line, 4 KiB at once, and takes no bandwidth
/// of the host link; 004 copies within DRAM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/driver/mapping/memory_access.hpp"
#include "models/driver/mapping/unmapper.hpp"

namespace lockstep {

class Rearranger {
 public:
  /// In the owner of an unmapping, beside the number of the rearrangement.
  static constexpr std::uint32_t unmapping_owner = std::uint32_t{1} << 31;

  Rearranger(PageManager& page_manager, GmmuNews& news, Unmapper& unmapper)
      : page_manager_(page_manager), news_(news), unmapper_(unmapper) {}

  // Pages that are mapped in GPU memory and at rest.
  void coalesce(const TenantPages& pages, const HostCycle& cycle);
  void splinter(const TenantPages& pages, const HostCycle& cycle);
  void copy(const TenantPages& page, Frame to, const HostCycle& cycle);

  // Answers; each may finish something.
  struct Finished {
    TenantPages pages;
    std::vector<FrameRun> left;  ///< frames that nothing uses any more
  };
  void unmapped(const Unmapped& unmapped, const HostCycle& cycle);
  void line_answered(const MessageHeader& message, const HostCycle& cycle);
  std::optional<Finished> written(std::uint32_t number, const HostCycle& cycle);

  bool holds(const TenantPages& pages) const;
  std::size_t under_way() const { return rearrangements_.size() - free_.size(); }
  void serialize(Archive& archive);

 private:
  struct Rearrangement {
    TenantPages pages;
    enum class Kind : std::uint8_t { coalesce, splinter, copy };
    Kind kind = Kind::coalesce;
    Frame to;                            ///< of a copy
    std::vector<std::uint64_t> entries;  ///< as they were
    std::uint64_t missing = 0;           ///< answers
    template <class Archive>
    void serialize(Archive& archive) {
      archive(pages, kind, to, entries, missing);
    }
  };

  std::uint32_t begin(const TenantPages& pages, Rearrangement::Kind kind);
  void write(std::uint32_t number, const std::vector<TableWrite>& writes, const HostCycle& cycle);
  void restore_entries(std::uint32_t number, const HostCycle& cycle);

  PageManager& page_manager_;
  GmmuNews& news_;
  Unmapper& unmapper_;
  std::vector<Rearrangement> rearrangements_;
  std::vector<std::uint32_t> free_;
};

}  // namespace lockstep
