#include "models/driver/page_manager/page_tables.hpp"

#include "core/error/error.hpp"
#include "models/isa/types.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t entry_bytes = 8;
constexpr std::uint64_t table_line = 128;
constexpr std::uint64_t directory_flags = PageTableEntry::present | PageTableEntry::writable;

/// Returns the number of pages that a table of this level covers.
constexpr std::uint64_t reach(unsigned level) {
  return std::uint64_t{1} << (9 * (walk_levels - level + 1));
}

}  // namespace

void add_write(std::vector<TableWrite>& writes, std::uint64_t address, std::uint64_t value) {
  const std::uint64_t line = address / table_line * table_line;
  if (writes.empty() || writes.back().line != line) writes.push_back({line, 0, {}});
  const auto place = static_cast<unsigned>((address - line) / entry_bytes);
  writes.back().mask |= static_cast<std::uint16_t>(1u << place);
  writes.back().entries[place] = value;
}

constexpr std::uint64_t PageTables::first_leaf() {
  return isa::first_global_address / large_page_bytes;
}

const PageTables::Leaf& PageTables::leaf(TenantId tenant, VirtualPage page) const {
  const std::vector<Leaf>& leaves = spaces_[tenant.value()].leaves;
  const std::uint64_t index = page.value() / pages_per_large - first_leaf();
  LOCKSTEP_CHECK(index < leaves.size() && leaves[index].physical != 0,
                 "no table was reserved for a page");
  return leaves[index];
}

PageTables::Leaf& PageTables::leaf(TenantId tenant, VirtualPage page) {
  return const_cast<Leaf&>(static_cast<const PageTables&>(*this).leaf(tenant, page));
}

std::uint64_t PageTables::Making::table() {
  const PhysicalAddress frame = take_frame();
  append_frame(made, frame, page_bytes);
  return frame.value();
}

std::uint64_t PageTables::directory(Space& space, std::uint64_t page, unsigned level,
                                    Making& making) {
  const std::uint64_t first = page / reach(level) * reach(level);
  for (const Directory& d : space.directories)
    if (d.level == level && d.first_page == first) return d.physical;
  std::uint64_t above = 0;
  if (level > 1) above = directory(space, page, level - 1, making);
  const std::uint64_t physical = making.table();
  space.directories.push_back({physical, level, first});
  if (level > 1) {
    add_write(making.writes, above + table_index(page, level - 1) * entry_bytes,
              physical | directory_flags);
  }
  return physical;
}

std::vector<FrameRun> PageTables::reserve(const TenantPages& pages, const TakeFrame& take_frame,
                                          std::vector<TableWrite>& writes) {
  Making making{take_frame, writes, {}};
  Space& space = spaces_[pages.tenant.value()];
  const std::uint64_t first = pages.first.value() / pages_per_large;
  const std::uint64_t last = (pages.end().value() - 1) / pages_per_large;
  for (std::uint64_t number = first; number <= last; ++number) {
    const std::uint64_t index = number - first_leaf();
    if (index >= space.leaves.size()) space.leaves.resize(index + 1);
    if (space.leaves[index].physical != 0) continue;
    const std::uint64_t first_page = number * pages_per_large;
    const std::uint64_t level3 = directory(space, first_page, 3, making);
    Leaf& leaf = space.leaves[index];
    leaf.physical = making.table();
    leaf.directory_entry = level3 + table_index(first_page, 3) * entry_bytes;
    add_write(writes, leaf.directory_entry, leaf.physical | directory_flags);
  }
  return making.made;
}

PhysicalAddress PageTables::root(TenantId tenant) const {
  const auto& directories = spaces_[tenant.value()].directories;
  return PhysicalAddress{directories.empty() ? 0 : directories.front().physical};
}

PageTableEntry PageTables::entry(TenantId tenant, VirtualPage page) const {
  const Leaf& l = leaf(tenant, page);
  return {l.entries ? (*l.entries)[page.value() % pages_per_large] : 0};
}

PhysicalAddress PageTables::entry_address(TenantId tenant, VirtualPage page) const {
  return PhysicalAddress{leaf(tenant, page).physical} +
         page.value() % pages_per_large * entry_bytes;
}

PhysicalAddress PageTables::directory_address(TenantId tenant, VirtualPage page) const {
  return PhysicalAddress{leaf(tenant, page).directory_entry};
}

bool PageTables::is_large(TenantId tenant, VirtualPage page) const {
  return leaf(tenant, page).large;
}

bool PageTables::is_coalesced(TenantId tenant, VirtualPage page) const {
  return leaf(tenant, page).coalesced;
}

void PageTables::set(TenantId tenant, VirtualPage page, PageTableEntry entry,
                     std::vector<TableWrite>& writes) {
  Leaf& l = leaf(tenant, page);
  if (!l.entries) l.entries = std::make_unique<Entries>();
  (*l.entries)[page.value() % pages_per_large] = entry.bits;
  add_write(writes, entry_address(tenant, page).value(), entry.bits);
}

void PageTables::learn(TenantId tenant, VirtualPage page, PageTableEntry entry) {
  Leaf& l = leaf(tenant, page);
  if (l.entries) (*l.entries)[page.value() % pages_per_large] = entry.bits;
}

void PageTables::set_large(TenantId tenant, VirtualPage page, bool coalesced,
                           std::vector<TableWrite>& writes) {
  Leaf& l = leaf(tenant, page);
  l.large = true;
  l.coalesced = coalesced;
  add_write(writes, l.directory_entry, l.physical | directory_flags | PageTableEntry::large);
}

void PageTables::forget_large(TenantId tenant, VirtualPage page) {
  Leaf& l = leaf(tenant, page);
  l.large = l.coalesced = false;
}

std::vector<PhysicalAddress> PageTables::take_all(TenantId tenant) {
  std::vector<PhysicalAddress> frames;
  Space& space = spaces_[tenant.value()];
  for (const Directory& d : space.directories) frames.emplace_back(d.physical);
  for (const Leaf& l : space.leaves)
    if (l.physical != 0) frames.emplace_back(l.physical);
  space = {};
  return frames;
}

std::vector<FrameRun> PageTables::frames_of(const TenantPages& pages) const {
  std::vector<FrameRun> runs;
  for (VirtualPage page = pages.first; page < pages.end(); ++page) {
    const PageTableEntry one = entry(pages.tenant, page);
    LOCKSTEP_CHECK(one.is(PageTableEntry::present), "a page without a frame is moved");
    append_frame(runs, PhysicalAddress{one.address()}, page_bytes);
  }
  return runs;
}

bool PageTables::in_large_frame(TenantId tenant, VirtualPage first) const {
  const std::vector<FrameRun> frames = frames_of({tenant, first, pages_per_large});
  return frames.size() == 1 && frames.front().physical % large_page_bytes == 0;
}

void PageTables::serialize(Archive& archive) {
  for (Space& space : spaces_) {
    std::uint64_t directories = space.directories.size(), leaves = space.leaves.size();
    archive(directories, leaves);
    archive.require(directories);
    archive.require(leaves);
    space.directories.resize(directories);
    space.leaves.resize(leaves);
    for (Directory& d : space.directories) archive(d.physical, d.level, d.first_page);
    for (Leaf& l : space.leaves) {
      bool filled = l.entries != nullptr;
      archive(l.physical, l.directory_entry, l.large, l.coalesced, filled);
      if (!filled) continue;
      if (!l.entries) l.entries = std::make_unique<Entries>();
      archive(*l.entries);
    }
  }
}

}  // namespace lockstep
