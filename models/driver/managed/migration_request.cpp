#include "models/driver/managed/migration_request.hpp"

#include <algorithm>

namespace lockstep {

std::vector<FrameRun> part_of(const std::vector<FrameRun>& frames, std::uint64_t from,
                              std::uint64_t bytes) {
  std::vector<FrameRun> part;
  for (const FrameRun& run : frames) {
    if (bytes == 0) break;
    if (from >= run.bytes) {
      from -= run.bytes;
      continue;
    }
    const std::uint64_t here = std::min(bytes, run.bytes - from);
    part.push_back({run.physical + from, here});
    bytes -= here;
    from = 0;
  }
  return part;
}

namespace {

void append(std::vector<FrameRun>& runs, const std::vector<FrameRun>& more) {
  runs.insert(runs.end(), more.begin(), more.end());
}

}  // namespace

MapRequest migration_request(const Migration& migration, std::vector<FrameRun> frames,
                             const ManagedPages& pages, const BufferDirectory& directory,
                             const HostCycle& cycle) {
  const PageRange range = migration.range;
  const Allocation& a = pages.owner(range.first);
  const std::uint64_t bytes = directory.bytes(a.tenant, a.buffer);
  const std::uint64_t first = range.first - a.first;
  const auto has_data = [&](std::uint64_t page) {
    return directory.has_data(a.tenant, a.buffer, first + page);
  };
  const auto is_brought = [&](std::uint64_t page) {
    return std::any_of(migration.brought.begin(), migration.brought.end(), [&](PageRange brought) {
      return range.first + page >= brought.first && range.first + page < brought.end();
    });
  };
  MapRequest request;
  request.not_before = migration.not_before;
  request.flags = migration.writable ? PageTableEntry::writable : 0;
  for (std::uint64_t page = 0; page < range.count;) {
    if (is_brought(page)) {
      ++page;
      continue;
    }
    // A run of pages that move together, or that have no data to move.
    const bool data = has_data(page);
    std::uint64_t end = page + 1;
    while (end < range.count && has_data(end) == data && !is_brought(end)) ++end;
    const std::uint64_t whole = (end - page) * page_bytes;
    const std::uint64_t offset = (first + page) * page_bytes;
    const std::uint64_t size = std::min(whole, bytes - offset);
    if (!data || size < whole) append(request.fresh, part_of(frames, page * page_bytes, whole));
    if (data) {
      Transfer transfer;
      transfer.kind = Transfer::Kind::to_gpu;
      transfer.rank = migration.fault ? Transfer::Class::fault : Transfer::Class::prefetch;
      transfer.tenant = a.tenant.value();
      transfer.buffer = a.buffer.value();
      transfer.offset = offset;
      transfer.bytes = size;
      transfer.frames = part_of(frames, page * page_bytes, size);
      request.data.push_back(std::move(transfer));
    }
    HostStatistics& statistics = cycle.statistics;
    (data ? statistics.pages_migrated : statistics.pages_allocated)[a.tenant.value()] += end - page;
    page = end;
  }
  std::uint64_t mapped = 0;
  for (const FrameRun& run : frames) mapped += run.bytes / page_bytes;
  if (mapped > range.count)  // the end of an allocation in a large page
    append(request.fresh,
           part_of(frames, range.count * page_bytes, (mapped - range.count) * page_bytes));
  request.pages = {a.tenant, a.virtual_page_of(range.first), mapped};
  request.frames = std::move(frames);
  return request;
}

}  // namespace lockstep
