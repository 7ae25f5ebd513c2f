#include "models/memory/bytes/partition_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "core/error/error.hpp"
#include "models/fragmentation/foreign_pages.hpp"
#include "models/noc/progress.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

namespace {
constexpr std::uint64_t frame_bytes = 4096;
}

PartitionBytes::PartitionBytes(std::uint64_t bytes, PartitionId index,
                               const AddressMapping& mapping, std::size_t tenants,
                               TransactionPool& transactions)
    : index_(index),
      mapping_(mapping),
      transactions_(transactions),
      memory_(bytes),
      changed_(tenants) {}

void PartitionBytes::hold_foreign(std::span<const Frame> pages) {
  const std::uint64_t chunk = std::min(mapping_.chunk_bytes(), frame_bytes);
  for (std::size_t page = 0; page < pages.size(); ++page)
    for (std::uint64_t at = 0; at < frame_bytes; at += chunk) {
      const PhysicalAddress address = address_of(pages[page]) + at;
      if (mapping_.partition(address) != index_) continue;
      write_foreign_bytes(page, at, memory_.at(mapping_.offset(address), chunk));
    }
}

void PartitionBytes::accept(std::uint32_t index, const std::byte* payload) {
  const Transaction& t = transactions_[index];
  LOCKSTEP_DEBUG_CHECK(mapping_.partition(PhysicalAddress{t.request.line}) == index_,
                       "a request came to the wrong partition");
  check_owner(t.request);
  switch (t.request.operation) {
    case MemoryOperation::load:
      reads_.add(transactions_, index);
      break;
    case MemoryOperation::inspect:
      read(index, transactions_.data(index));
      break;
    case MemoryOperation::store:
      store(index, payload);
      break;
    case MemoryOperation::atomic:
      modify(index, payload);
      break;
  }
}

void PartitionBytes::store(std::uint32_t index, const std::byte* payload) {
  Transaction& t = transactions_[index];
  const std::uint8_t sectors = t.request.sectors;
  read_pending(t.line, t.line + 1);
  if (is_looked_at(t.request)) [[unlikely]]
    changed_[t.request.tenant] = memory_.changes(offset_of(t.line), sectors, payload);
  t.whole = memory_.store(offset_of(t.line), sectors, payload);
  if (t.whole) return;
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    std::uint32_t mask;
    std::memcpy(&mask, payload, sizeof mask);
    payload += sizeof mask;
    transactions_.set_mask(index, static_cast<unsigned>(std::countr_zero(rest)), mask);
  }
}

void PartitionBytes::modify(std::uint32_t index, const std::byte* payload) {
  const Transaction& t = transactions_[index];
  read_pending(t.line, t.line + 1);
  const bool looks = is_looked_at(t.request);
  std::array<std::byte, line_bytes> before, after;
  if (looks) [[unlikely]]
    memory_.load(offset_of(t.line), 0xf, before.data());
  memory_.atomic(offset_of(t.line), t.request, payload, transactions_.data(index));
  if (!looks) [[likely]]
    return;
  memory_.load(offset_of(t.line), 0xf, after.data());
  changed_[t.request.tenant] = before != after;
}

void PartitionBytes::take_changed(std::span<std::uint8_t> tenants) {
  for (std::size_t t = 0; t < changed_.size(); ++t)
    if (std::exchange(changed_[t], 0) != 0) tenants[t] |= progress::got_on;
}

void PartitionBytes::read_pending(std::uint32_t first_line, std::uint32_t last_line) {
  reads_.take(transactions_, first_line, last_line,
              [&](std::uint32_t index) { read(index, transactions_.data(index)); });
}

void PartitionBytes::read(std::uint32_t index, std::byte* out) const {
  const Transaction& t = transactions_[index];
  memory_.load(offset_of(t.line), t.request.sectors, out);
}

void PartitionBytes::take(std::uint32_t index, std::byte* out, std::size_t size) {
  if (transactions_[index].next_read == Transaction::has_read) {
    std::memcpy(out, transactions_.data(index), size);
  } else {
    reads_.remove(transactions_, index);
    read(index, out);
  }
}

/// Checks that the request may use its frame. Local memory passes between tenants without being
/// zeroed, since PTX leaves its content undefined. So do places of contexts, line by line, since
/// each context reads only lines that it saved itself.
void PartitionBytes::check_owner([[maybe_unused]] const MemoryRequest& request) {
#ifndef NDEBUG
  if ((request.flags & (flag_local | flag_code)) != 0) return;
  if ((request.flags & flag_context) != 0) {
    const auto line = context_owners_.try_emplace(request.line, request.tenant).first;
    if (request.operation == MemoryOperation::store) line->second = request.tenant;
    LOCKSTEP_CHECK(line->second == request.tenant, "tenant " + std::to_string(request.tenant) +
                                                       " takes the context of tenant " +
                                                       std::to_string(line->second));
    return;
  }
  const auto frame = frame_owners_.try_emplace(request.line / frame_bytes, request.tenant).first;
  // The driver hands a frame over when it fills it, itself or through the port of another GPU.
  const bool is_filled = is_of_host(request.source) ||
                         (request.source == SourceKind::peer && (request.flags & flag_dma) != 0);
  if (is_filled && request.operation == MemoryOperation::store) frame->second = request.tenant;
  LOCKSTEP_CHECK(frame->second == request.tenant, "tenant " + std::to_string(request.tenant) +
                                                      " reached a frame of tenant " +
                                                      std::to_string(frame->second));
#endif
}

template <class Function>
void PartitionBytes::for_each_part(PhysicalAddress base, PhysicalAddress end,
                                   const Function& function) const {
  if (mapping_.group_bytes() != 0) return for_each_chunk(base, end, function);
  const std::uint64_t chunk = mapping_.chunk_bytes();
  const std::uint64_t stripe = chunk * mapping_.partitions();
  // Without groups a mapping spreads a whole stripe evenly, to the same offsets in all partitions.
  const std::uint64_t first = (base.value() + stripe - 1) / stripe, last = end.value() / stripe;
  if (first >= last) return for_each_chunk(base, end, function);
  for_each_chunk(base, PhysicalAddress{first * stripe}, function);
  function(PartitionOffset{first * chunk}, (last - first) * chunk);
  for_each_chunk(PhysicalAddress{last * stripe}, end, function);
}

template <class Function>
void PartitionBytes::for_each_chunk(PhysicalAddress from, PhysicalAddress to,
                                    const Function& function) const {
  const std::uint64_t chunk = mapping_.chunk_bytes();
  while (from < to) {
    const PhysicalAddress next = std::min(to, PhysicalAddress{(from.value() / chunk + 1) * chunk});
    if (mapping_.partition(from) == index_) function(mapping_.offset(from), next - from);
    from = next;
  }
}

std::uint64_t PartitionBytes::zero(const ZeroRange& range) {
  frame_owners_.erase(frame_owners_.lower_bound(range.base / frame_bytes),
                      frame_owners_.lower_bound((range.base + range.bytes) / frame_bytes));
  const PhysicalAddress base{range.base};
  std::uint64_t zeroed = 0;
  for_each_part(base, base + range.bytes, [&](PartitionOffset offset, std::uint64_t bytes) {
    zero_offsets(offset, bytes);
    zeroed += bytes;
  });
  return zeroed;
}

std::deque<InspectedLine> PartitionBytes::inspect(const InspectedRange& range) const {
  std::deque<InspectedLine> lines;
  const PhysicalAddress base{range.base};
  for_each_part(base, base + range.bytes, [&](PartitionOffset offset, std::uint64_t bytes) {
    memory_.for_each_line(offset, bytes, [&](PartitionOffset line, const std::byte* content) {
      InspectedLine& entry = lines.emplace_back();
      entry.line = mapping_.physical(index_, line).value();
      std::memcpy(entry.bytes.data(), content, line_bytes);
    });
  });
  return lines;
}

void PartitionBytes::copy_page(PhysicalAddress from, PhysicalAddress to) {
  LOCKSTEP_CHECK(mapping_.partition(from) == index_ && mapping_.partition(to) == index_,
                 "a page was to be copied into another partition");
  frame_owners_.erase(to.value() / frame_bytes);
  read_pending(line_of(to), line_of(to) + frame_bytes / line_bytes);
  memory_.copy(mapping_.offset(from), mapping_.offset(to), frame_bytes);
}

void PartitionBytes::zero_offsets(PartitionOffset offset, std::uint64_t bytes) {
  read_pending(static_cast<std::uint32_t>(offset.value() / line_bytes),
               static_cast<std::uint32_t>((offset.value() + bytes + line_bytes - 1) / line_bytes));
  memory_.zero(offset, bytes);
}

void PartitionBytes::serialize(Archive& archive) {
  memory_.serialize(archive);
  archive(reads_, changed_);
}

}  // namespace lockstep
