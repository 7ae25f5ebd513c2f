#include "models/driver/driver.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "core/memory/slots.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

namespace {

/// Calls function(first page, count) for the parts of a range that lie under one level-4 table.
template <class Function>
void for_each_table(std::uint64_t page, std::uint64_t count, Function&& function) {
  while (count > 0) {
    const std::uint64_t here = std::min(count, pages_per_large - page % pages_per_large);
    function(page, here);
    page += here;
    count -= here;
  }
}

}  // namespace

Driver::Driver(Setup setup)
    : frames_(setup.capacity),
      tables_(setup.tenants),
      partitions_(setup.partitions),
      page_manager_(std::move(setup.page_manager)),
      to_gmmu_(setup.to_gmmu),
      next_address_(setup.tenants, isa::first_global_address),
      busy_(setup.tenants) {
  // Physical address 0 is no table's: a table pointer of 0 means none.
  if (setup.capacity > 0) frames_.allocate(page_bytes);
}

std::uint64_t Driver::mapped_pages(std::uint64_t bytes) const {
  return round_up(bytes, granule_pages() * page_bytes) / page_bytes;
}

std::uint64_t Driver::take_addresses(std::uint16_t tenant, std::uint64_t bytes) {
  const std::uint64_t granule = std::max(granule_pages() * page_bytes, address_alignment(bytes));
  const std::uint64_t base = round_up(next_address_[tenant], granule);
  next_address_[tenant] = base + (mapped_pages(bytes) + 1) * page_bytes;
  return base / page_bytes;
}

std::vector<FrameRun> Driver::take_frames(std::uint64_t pages, bool paged) {
  return page_manager_->allocate(frames_, pages, paged);
}

void Driver::give_back(std::span<const FrameRun> frames) {
  for (const FrameRun& run : frames) frames_.release(run.physical, run.bytes);
}

std::uint64_t Driver::table_bytes(std::uint64_t pages) {
  // A level-4 table per 512 pages, one more for the ends, and a path of directories.
  return (pages / pages_per_large + 2 + walk_levels) * page_bytes;
}

std::vector<FrameRun> Driver::frames_of(std::uint16_t tenant, std::uint64_t page,
                                        std::uint64_t count) const {
  std::vector<FrameRun> runs;
  for (std::uint64_t p = page; p < page + count; ++p) {
    const PageTableEntry entry = tables_.entry(tenant, p);
    LOCKSTEP_CHECK(entry.is(PageTableEntry::present), "a page without a frame is moved");
    append_frame(runs, entry.address(), page_bytes);
  }
  return runs;
}

void Driver::map(MapRequest request, Time now, HostLink& link, Outbox& outbox) {
  const std::uint32_t index = take_slot(mappings_, free_mappings_);
  Mapping& mapping = mappings_[index];
  mapping = Mapping{};
  mapping.stage = Mapping::Stage::zeroing;
  mapping.request = std::move(request);
  ++busy_[mapping.request.tenant];
  set_entries(mapping);
  mapping.missing = mapping.zeroing.size() * partitions_;
  for (const FrameRun& run : mapping.zeroing)
    for (std::uint32_t p = 0; p < partitions_; ++p)
      link.send_range(p, now, MessageKind::zero_range, {run.physical, run.bytes}, outbox);
  if (mapping.missing == 0) start_transfers(index, now, link, outbox);
}

void Driver::start_transfers(std::uint32_t index, Time now, HostLink& link, Outbox& outbox) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::data;
  mapping.missing = mapping.request.data.size();
  for (Transfer& transfer : mapping.request.data) {
    transfer.operation = mapping_operation | index;
    link.start(transfer, now, outbox);
  }
  mapping.request.data.clear();
  if (mapping.missing == 0) write_entries(index, now, link, outbox);
}

/// Decides what is to be zeroed and what is to be written.
void Driver::set_entries(Mapping& mapping) {
  const MapRequest& request = mapping.request;
  const auto zero_used = [&](const FrameRun& run) {
    for (std::uint64_t at = run.physical; at < run.physical + run.bytes; at += page_bytes)
      if (frames_.used_before(at)) append_frame(mapping.zeroing, at, page_bytes);
  };
  const bool had_root = tables_.root(request.tenant) != 0;
  tables_.reserve(
      request.tenant, request.page, std::max<std::uint64_t>(request.reserved, request.count),
      [&] {
        const auto frame = frames_.allocate(page_bytes);
        LOCKSTEP_CHECK(frame.has_value(), "no frame is left for a page table");
        zero_used({*frame, page_bytes});
        return *frame;
      },
      mapping.writes);
  mapping.new_root = !had_root;
  for (const FrameRun& run : request.fresh) zero_used(run);
  std::uint64_t page = request.page, remote = request.remote;
  const std::uint64_t flags = request.flags | PageTableEntry::present |
                              (request.frames.empty() ? PageTableEntry::remote : 0);
  const auto set = [&](std::uint64_t address) {
    tables_.set(request.tenant, page++, PageTableEntry::of(address, flags), mapping.writes);
  };
  for (const FrameRun& run : request.frames)
    for (std::uint64_t at = 0; at < run.bytes; at += page_bytes) set(run.physical + at);
  if (request.frames.empty())
    for (std::uint64_t i = 0; i < request.count; ++i, remote += page_bytes) set(remote);
  if (!page_manager_->large(request.paged) || request.frames.empty()) return;
  const std::uint64_t end = request.page + request.count;
  std::uint64_t p = round_up(request.page, pages_per_large);
  for (; p + pages_per_large <= end; p += pages_per_large)
    if (has_large_frame(request.tenant, p))
      tables_.set_large(request.tenant, p, true, mapping.writes);
}

bool Driver::has_large_frame(std::uint16_t tenant, std::uint64_t page) const {
  const std::vector<FrameRun> frames = frames_of(tenant, page, pages_per_large);
  return frames.size() == 1 && frames.front().physical % large_page_bytes == 0;
}

void Driver::write_entries(std::uint32_t index, Time now, HostLink& link, Outbox& outbox) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::entries;
  mapping.missing = mapping.writes.size();
  for (const TableWrite& write : mapping.writes)
    send_write(write, mapping.request.tenant, table_write_tag | index, now, link, outbox);
  mapping.writes.clear();
  if (mapping.missing == 0) entries_written(index, now, outbox);
}

void Driver::send_write(const TableWrite& write, std::uint16_t tenant, std::uint32_t tag, Time now,
                        HostLink& link, Outbox& outbox) {
  MemoryRequest request;
  request.line = write.line;
  request.tag = tag;
  request.requester = host_requester;
  request.tenant = tenant;
  request.operation = MemoryOperation::store;
  std::array<std::uint32_t, 4> masks{};
  for (unsigned i = 0; i < 16; ++i) {
    if (!(write.mask >> i & 1)) continue;
    request.sectors |= static_cast<std::uint8_t>(1u << (i / 4));
    masks[i / 4] |= 0xffu << (i % 4 * 8);
  }
  std::array<std::byte, 4 * (4 + sector_bytes)> payload;
  const unsigned count = request.sector_count();
  for (unsigned sector = 0, n = 0; sector < 4; ++sector) {
    if (!(request.sectors >> sector & 1)) continue;
    std::memcpy(payload.data() + 4 * n, &masks[sector], 4);
    std::memcpy(payload.data() + 4 * count + sector_bytes * n, &write.entries[sector * 4],
                sector_bytes);
    ++n;
  }
  link.send_request(request, {payload.data(), (4 + sector_bytes) * count}, now, outbox);
}

void Driver::answered(std::uint32_t index, Time now, HostLink& link, Outbox& outbox) {
  if (--mappings_[index].missing > 0) return;
  switch (mappings_[index].stage) {
    case Mapping::Stage::zeroing:
      return start_transfers(index, now, link, outbox);
    case Mapping::Stage::data:
      return write_entries(index, now, link, outbox);
    default:
      return entries_written(index, now, outbox);
  }
}

void Driver::zero_done(const ZeroRange& range, Time now, HostLink& link, Outbox& outbox) {
  for (std::uint32_t m = 0; m < mappings_.size(); ++m) {
    if (mappings_[m].stage != Mapping::Stage::zeroing) continue;
    for (const FrameRun& run : mappings_[m].zeroing)
      if (run.physical == range.base) return answered(m, now, link, outbox);
  }
  LOCKSTEP_CHECK(false, "a range nobody maps was zeroed");
}

void Driver::transfer_done(const Transfer& transfer, Time now, HostLink& link, Outbox& outbox) {
  answered(static_cast<std::uint32_t>(transfer.operation & ~mapping_operation), now, link, outbox);
}

void Driver::write_done(std::uint32_t tag, Time now, HostLink& link, Outbox& outbox) {
  answered(tag & ~table_write_tag, now, link, outbox);
}

void Driver::entries_written(std::uint32_t index, Time now, Outbox& outbox) {
  Mapping& mapping = mappings_[index];
  mapping.stage = Mapping::Stage::waiting;
  const Time when = mapping.request.not_before;
  if (when <= now) return finish_mapping(index, now, outbox);
  const std::pair<Time, std::uint32_t> entry{when, index};
  announcements_.insert(std::upper_bound(announcements_.begin(), announcements_.end(), entry),
                        entry);
}

void Driver::finish_mapping(std::uint32_t index, Time now, Outbox& outbox) {
  Mapping& mapping = mappings_[index];
  const MapRequest& request = mapping.request;
  if (mapping.new_root)
    outbox.send(to_gmmu_, now, kind_of(MessageKind::set_root),
                PageTableRoot{tables_.root(request.tenant), request.tenant, {}});
  announce(request.tenant, request.page, request.count, now, outbox);
  if (request.owner != MapRequest::nobody) mapped_.push_back(request.owner);
  --busy_[request.tenant];
  mapping = Mapping{};
  free_mappings_.push_back(index);
}

void Driver::announce(std::uint16_t tenant, std::uint64_t page, std::uint64_t count, Time now,
                      Outbox& outbox) {
  for_each_table(page, count, [&](std::uint64_t first, std::uint64_t here) {
    std::vector<std::uint64_t> entries;
    for (std::uint64_t p = first; p < first + here; ++p)
      entries.push_back(tables_.entry(tenant, p).bits);
    PagesMapped body;
    body.span = {first, static_cast<std::uint32_t>(here), 0, tenant, 0, 0};
    body.entries_at = tables_.entry_address(tenant, first) | tables_.is_large(tenant, first);
    outbox.send(to_gmmu_, now, kind_of(MessageKind::pages_mapped), body,
                std::as_bytes(std::span(entries)));
  });
}

void Driver::announce_invalid(std::uint16_t tenant, std::uint64_t page, Time now, Outbox& outbox) {
  PagesMapped body;
  body.span = {page, 1, 0, tenant, 0, 0};
  const std::uint64_t nothing = 0;
  outbox.send(to_gmmu_, now, kind_of(MessageKind::pages_mapped), body,
              std::as_bytes(std::span(&nothing, 1)));
}

void Driver::unmap(std::uint16_t tenant, std::uint64_t page, std::uint64_t count,
                   std::uint32_t owner, Time now, Outbox& outbox) {
  const std::uint32_t index = take_slot(unmappings_, free_unmappings_);
  Unmapping& unmapping = unmappings_[index];
  unmapping.missing = 0;
  unmapping.result = {tenant, page, owner, std::vector<std::uint64_t>(count)};
  ++busy_[tenant];
  for_each_table(page, count, [&](std::uint64_t first, std::uint64_t here) {
    UnmapRequest body;
    body.span = {first, static_cast<std::uint32_t>(here), index, tenant, 0, 0};
    body.entries_at = tables_.entry_address(tenant, first);
    if (tables_.is_large(tenant, first)) body.large_at = tables_.directory_address(tenant, first);
    ++unmapping.missing;
    outbox.send(to_gmmu_, now, kind_of(MessageKind::unmap), body);
  });
}

void Driver::unmapped(const MessageHeader& message) {
  const auto& span = message.body<PageSpan>();
  Unmapping& unmapping = unmappings_[span.id];
  Unmapped& result = unmapping.result;
  std::memcpy(result.entries.data() + (span.page - result.page), message.payload_data(),
              span.count * sizeof(std::uint64_t));
  for (std::uint64_t p = span.page; p < span.page + span.count; ++p) {
    const std::uint64_t changed =
        tables_.entry(span.tenant, p).bits ^ result.entries[p - result.page];
    LOCKSTEP_CHECK((changed & ~(PageTableEntry::accessed | PageTableEntry::dirty)) == 0,
                   "the entry of page " + std::to_string(p) + " of tenant " +
                       std::to_string(span.tenant) +
                       " in GPU memory is not the one that the driver wrote");
    tables_.forget(span.tenant, p);
  }
  if (tables_.is_large(span.tenant, span.page)) tables_.forget_large(span.tenant, span.page);
  if (--unmapping.missing > 0) return;
  --busy_[span.tenant];
  unmapped_.push_back(std::move(result));
  unmapping = Unmapping{};
  free_unmappings_.push_back(span.id);
}

Time Driver::next_activity() const {
  return announcements_.empty() ? Time::never() : announcements_.front().first;
}

void Driver::act(Time now, Outbox& outbox) {
  while (next_activity() <= now) {
    const std::uint32_t index = announcements_.front().second;
    announcements_.erase(announcements_.begin());
    finish_mapping(index, now, outbox);
  }
}

void Driver::end_tenant(std::uint16_t tenant, Time now, Outbox& outbox) {
  next_address_[tenant] = isa::first_global_address;
  outbox.send(to_gmmu_, now, kind_of(MessageKind::set_root), PageTableRoot{0, tenant, {}});
  for (const std::uint64_t frame : tables_.take_all(tenant)) frames_.release(frame, page_bytes);
}

bool Driver::idle() const {
  return std::all_of(busy_.begin(), busy_.end(), [](std::uint32_t b) { return b == 0; });
}

std::string Driver::waiting_for() const {
  std::size_t mappings = mappings_.size() - free_mappings_.size();
  std::size_t unmappings = unmappings_.size() - free_unmappings_.size();
  if (mappings + unmappings == 0) return "";
  return "the driver maps " + std::to_string(mappings) + " and unmaps " +
         std::to_string(unmappings) + " ranges";
}

void Driver::serialize(Archive& archive) {
  archive(frames_, tables_, to_gmmu_, next_address_, busy_, mappings_, free_mappings_,
          announcements_, unmappings_, free_unmappings_, mapped_, unmapped_);
}

}  // namespace lockstep
