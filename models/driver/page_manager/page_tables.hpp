/// The driver's side of the page tables: their contents, their places in GPU memory, and the lines
/// that must be written there.
///
/// Tables of all four levels are reserved together with their address range; a level-4 table takes
/// memory of this computer when its first entry is set.  The GPU's copy differs only in the bits
/// that the GMMU sets (PageTableEntry::set_by_gmmu).
/// Source: architecture.md, section 8, rules 7 and 9; page_table_entry.hpp (format).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/driver/tenant_pages.hpp"
#include "models/vm/frame_run.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

/// Entries of one 128-byte line of a table that changed.
struct TableWrite {
  std::uint64_t line = 0;  ///< physical address of the line
  std::uint16_t mask = 0;  ///< bit i: entry i of the line
  std::array<std::uint64_t, 16> entries{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(line, mask, entries);
  }
};

class PageTables {
 public:
  PageTables() = default;
  explicit PageTables(std::size_t tenants) : spaces_(tenants) {}

  /// Gives a frame for a table.
  using TakeFrame = std::function<PhysicalAddress()>;
  /// Makes the missing tables for the pages, in frames of their own; their directory entries are
  /// added to `writes`.  Returns the new frames.
  std::vector<FrameRun> reserve(const TenantPages& pages, const TakeFrame& take_frame,
                                std::vector<TableWrite>& writes);
  /// Returns the address of the tenant's level-1 table; 0 before its first reserve.
  PhysicalAddress root(TenantId tenant) const;

  PageTableEntry entry(TenantId tenant, VirtualPage page) const;
  PhysicalAddress entry_address(TenantId tenant, VirtualPage page) const;
  /// Returns the address of the level-3 entry that covers the page.
  PhysicalAddress directory_address(TenantId tenant, VirtualPage page) const;
  bool is_large(TenantId tenant, VirtualPage page) const;
  /// Returns the frames of mapped pages, in order.
  std::vector<FrameRun> frames_of(const TenantPages& pages) const;
  /// Returns whether the 512 pages from `first` on, all mapped, lie in one aligned large frame.
  bool in_large_frame(TenantId tenant, VirtualPage first) const;
  /// Returns whether the large page was made of pages that were mapped before: their entries are
  /// disabled.
  bool is_coalesced(TenantId tenant, VirtualPage page) const;

  void set(TenantId tenant, VirtualPage page, PageTableEntry entry,
           std::vector<TableWrite>& writes);
  // Takes over entries that the GMMU has already written to memory: a new entry, or 0 by an
  // exchange.
  void learn(TenantId tenant, VirtualPage page, PageTableEntry entry);
  void forget(TenantId tenant, VirtualPage page) { learn(tenant, page, {}); }
  void set_large(TenantId tenant, VirtualPage page, bool coalesced,
                 std::vector<TableWrite>& writes);
  /// Notes that the GMMU has cleared the large bit together with the entries.
  void forget_large(TenantId tenant, VirtualPage page);

  /// Takes away all tables of the tenant.  Returns their frames.
  std::vector<PhysicalAddress> take_all(TenantId tenant);

  void serialize(Archive& archive);

 private:
  using Entries = std::array<std::uint64_t, 512>;
  struct Leaf {
    std::uint64_t physical = 0;         ///< physical address; 0: not reserved
    std::uint64_t directory_entry = 0;  ///< physical address of the level-3 entry
    bool large = false, coalesced = false;
    std::unique_ptr<Entries> entries;  ///< entries of the table; nullptr: none set yet
  };
  struct Directory {
    std::uint64_t physical = 0;
    unsigned level = 0;
    std::uint64_t first_page = 0;
  };
  struct Space {
    std::vector<Directory> directories;  ///< directories; [0] is the root
    std::vector<Leaf> leaves;            ///< leaves by page / 512, from first_leaf on
  };
  static constexpr std::uint64_t first_leaf();

  /// Frames and writes of a reserve while it is made.
  struct Making {
    const TakeFrame& take_frame;
    std::vector<TableWrite>& writes;
    std::vector<FrameRun> made;
    std::uint64_t table();
  };

  const Leaf& leaf(TenantId tenant, VirtualPage page) const;
  Leaf& leaf(TenantId tenant, VirtualPage page);
  static std::uint64_t directory(Space& space, std::uint64_t page, unsigned level, Making& making);

  std::vector<Space> spaces_;
};

/// Adds one entry to the lines that have to be written.
void add_write(std::vector<TableWrite>& writes, std::uint64_t address, std::uint64_t value);

}  // namespace lockstep
