/// Unmaps pages: the GMMU takes their entries away and returns them.
/// Source: architecture.md, section 8, rule 7.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/message/message.hpp"
#include "models/driver/mapping/gmmu_news.hpp"
#include "models/driver/mapping/owners.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

/// Unmapped pages: their entries as the GMMU found them, dirty bits of all SMs included; 0 for
/// pages that were not mapped.
struct Unmapped {
  TenantPages pages;
  UnmappingOwner owner = nobody_unmaps;
  std::vector<std::uint64_t> entries;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(pages, owner, entries);
  }
};

class Unmapper {
 public:
  Unmapper(PageManager& page_manager, GmmuNews& news) : page_manager_(page_manager), news_(news) {}

  void unmap(const TenantPages& pages, UnmappingOwner owner, const HostCycle& cycle);
  /// Takes an answer. Returns the unmapping that it completed, if any.
  std::optional<Unmapped> take(const MessageHeader& message);

  bool holds(const TenantPages& pages) const;
  std::size_t under_way() const { return unmappings_.size() - free_.size(); }
  void serialize(Archive& archive);

 private:
  struct Unmapping {
    std::uint32_t missing = 0;  ///< missing spans
    Unmapped result;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(missing, result);
    }
  };
  /// The entries may differ from the driver's in the bits that their use sets.
  void check(const Unmapped& result, const TenantPages& part) const;

  PageManager& page_manager_;
  GmmuNews& news_;
  std::vector<Unmapping> unmappings_;
  std::vector<std::uint32_t> free_;
};

}  // namespace lockstep
