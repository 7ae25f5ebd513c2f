/// Maps pages: frames that will not be overwritten as a whole are zeroed, data come over the link,
/// and entries are written.  Each step waits until the partitions have acknowledged the one before;
/// then the GMMU is told.
/// Source: architecture.md, section 8, rules 9 and 10; 000, section 2.3 (steps of the driver).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/driver/mapping/gmmu_news.hpp"
#include "models/driver/mapping/map_request.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class Mapper {
 public:
  Mapper(PageManager& page_manager, GmmuNews& news, std::uint32_t partitions)
      : page_manager_(page_manager), news_(news), partitions_(partitions) {}

  void map(MapRequest request, const HostCycle& cycle);
  // Answers.
  void zero_done(const ZeroRange& range, const HostCycle& cycle);
  void transfer_done(const Transfer& transfer, const HostCycle& cycle);
  void written(std::uint32_t number, const HostCycle& cycle) { answered(number, cycle); }

  Time next_activity() const;
  void act(const HostCycle& cycle);
  /// Mapped pages that the GMMU has been told of since the last call.
  struct Mapped {
    TenantPages pages;
    std::uint32_t owner = MapRequest::nobody;
    bool in_gpu_memory = false;
  };
  std::vector<Mapped> take_finished() { return std::exchange(finished_, {}); }

  bool holds(const TenantPages& pages) const;
  std::size_t under_way() const { return mappings_.size() - free_.size(); }
  void serialize(Archive& archive);

 private:
  struct Mapping {
    enum class Stage : std::uint8_t { unused, zeroing, data, entries, waiting };
    Stage stage = Stage::unused;
    MapRequest request;
    std::vector<TableWrite> writes;
    std::vector<FrameRun> zeroing;
    std::uint64_t missing = 0;  ///< missing answers
    bool new_root = false;      ///< true: the mapping makes the tenant's first tables
    template <class Archive>
    void serialize(Archive& archive) {
      archive(stage, request, writes, zeroing, missing, new_root);
    }
  };

  /// Decides which frames are to be zeroed and which entries are to be written.
  void set_entries(Mapping& mapping);
  void start_transfers(std::uint32_t index, const HostCycle& cycle);
  void write_entries(std::uint32_t index, const HostCycle& cycle);
  void entries_written(std::uint32_t index, const HostCycle& cycle);
  void finish(std::uint32_t index, const HostCycle& cycle);
  /// Decides which frames must be zeroed and which entries must be written.
  void answered(std::uint32_t index, const HostCycle& cycle);

  PageManager& page_manager_;
  GmmuNews& news_;
  const std::uint32_t partitions_;
  std::vector<Mapping> mappings_;
  std::vector<std::uint32_t> free_;
  /// Finished mappings that wait for their announcement, by (time, index).
  std::vector<std::pair<Time, std::uint32_t>> announcements_;
  std::vector<Mapped> finished_;  ///< mappings finished in the current call
};

}  // namespace lockstep
