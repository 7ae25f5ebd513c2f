#include "models/vm/gmmu/unmapping.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"

namespace lockstep {

void Unmapping::merge_stores() {
  std::uint64_t of_all = 0;
  if (request.large_at != 0) {
    of_all = entries.front() & (PageTableEntry::accessed | PageTableEntry::dirty);
    if (std::any_of(stored.begin(), stored.end(), [](std::uint64_t word) { return word != 0; }))
      of_all |= PageTableEntry::dirty;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (PageTableEntry{entries[i]}.is(PageTableEntry::present)) entries[i] |= of_all;
    if ((stored[i / 64] >> i % 64 & 1) != 0) entries[i] |= PageTableEntry::dirty;
  }
}

std::uint32_t Unmappings::add(const UnmapRequest& request) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  order_.push_back(index);
  Unmapping& u = slots_[index];
  u.request = request;
  u.stage = Unmapping::Stage::replays;
  u.missing = 0;
  u.entries.assign(request.span.count, 0);
  u.stored.assign((request.span.count + 63) / 64, 0);
  return index;
}

std::uint32_t Unmappings::ready(const FarFaults& faults, const LocalHandlers& local) const {
  for (const std::uint32_t index : order_) {
    const Unmapping& u = slots_[index];
    if (u.stage == Unmapping::Stage::replays && !local.handles_in(u.span()) &&
        !faults.replays_in(u.span()))
      return index;
  }
  return none;
}

bool Unmappings::holds(TenantPage where) const {
  return std::any_of(order_.begin(), order_.end(), [&](std::uint32_t index) {
    return slots_[index].stage == Unmapping::Stage::exchange && slots_[index].covers(where);
  });
}

Unmapping* Unmappings::unmapping_of(TenantPage where) {
  for (const std::uint32_t index : order_) {
    Unmapping& u = slots_[index];
    if (u.stage != Unmapping::Stage::replays && u.covers(where)) return &u;
  }
  return nullptr;
}

void Unmappings::start_exchange(std::uint32_t index, GmmuCycle& cycle) {
  Unmapping& u = slots_[index];
  u.stage = Unmapping::Stage::exchange;
  if (u.request.large_at != 0 && !u.request.is_coalesced()) clear_large(index, cycle);
  for (std::uint32_t first = 0; first < u.span().count;) {
    const std::uint64_t address = u.request.entries_at + first * sizeof(std::uint64_t);
    const auto room =
        static_cast<std::uint32_t>((line_bytes - address % line_bytes) / sizeof(std::uint64_t));
    const std::uint32_t count = std::min(room, u.span().count - first);
    lines_.push_back({index, first, count});
    ++u.missing;
    first += count;
  }
  send_exchanges(cycle);
}

void Unmappings::clear_large(std::uint32_t index, GmmuCycle& cycle) {
  Unmapping& u = slots_[index];
  ++u.missing;
  memory_.clear_bits(index, u.span().first().tenant,
                     PhysicalAddress{u.request.large_at & ~std::uint64_t{1}}, PageTableEntry::large,
                     cycle);
}

void Unmappings::send_exchanges(GmmuCycle& cycle) {
  for (; exchanging_ < exchanges_at_once && !lines_.empty(); ++exchanging_) {
    const Line line = lines_.front();
    lines_.pop_front();
    const Unmapping& u = slots_[line.unmapping];
    const PhysicalAddress entries{u.request.entries_at};
    memory_.exchange(line.unmapping << first_bits | line.first, u.span().first().tenant,
                     entries + line.first * sizeof(std::uint64_t), line.count, cycle);
  }
}

std::uint32_t Unmappings::exchanged(std::uint32_t asker, const std::byte* old_entries,
                                    std::uint32_t count, GmmuCycle& cycle) {
  const std::uint32_t index = asker >> first_bits, first = asker & ((1u << first_bits) - 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t old;
    std::memcpy(&old, old_entries + i * sizeof old, sizeof old);
    // Bits that the use of the page set in the mirror are already there.
    slots_[index].entries[first + i] |= old;
  }
  --exchanging_;
  send_exchanges(cycle);
  // First enable all entries again, then end the large page.
  if (slots_[index].missing == 1 && slots_[index].request.is_coalesced()) clear_large(index, cycle);
  return memory_answered(index);
}

std::uint32_t Unmappings::cleared(std::uint32_t asker) {
  return memory_answered(asker);
}

std::uint32_t Unmappings::memory_answered(std::uint32_t index) {
  return --slots_[index].missing == 0 ? index : none;
}

bool Unmappings::shot_down(std::uint32_t index, std::span<const std::byte> stored) {
  Unmapping& u = slots_[index];
  LOCKSTEP_CHECK(u.stage == Unmapping::Stage::shootdown &&
                     stored.size() >= u.stored.size() * sizeof(std::uint64_t),
                 "an SM answered a shootdown that nobody sent");
  for (std::size_t i = 0; i < u.stored.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, stored.data() + i * sizeof word, sizeof word);
    u.stored[i] |= word;
  }
  return --u.missing == 0;
}

void Unmappings::remove(std::uint32_t index) {
  slots_[index].stage = Unmapping::Stage::none;
  std::erase(order_, index);
  free_.push_back(index);
}

std::string Unmappings::waiting_for() const {
  std::string text;
  for (const std::uint32_t index : order_) {
    const Unmapping& u = slots_[index];
    text += text.empty() ? "unmapping " : ", ";
    text += std::to_string(u.span().count) + " pages from " + std::to_string(u.span().page) +
            " of tenant " + std::to_string(u.span().tenant) + " (";
    if (u.stage == Unmapping::Stage::replays) {
      text += "replays";
    } else {
      text += std::to_string(u.missing) + " answers of ";
      text += u.stage == Unmapping::Stage::exchange ? "memory" : "SMs";
    }
    text += ')';
  }
  return text;
}

void Unmapping::serialize(Archive& archive) {
  archive(request, stage, missing, entries, stored);
}

void Unmappings::serialize(Archive& archive) {
  std::uint64_t count = slots_.size();
  archive(count);
  archive.require(count);
  slots_.resize(count);
  for (Unmapping& u : slots_) u.serialize(archive);
  archive(free_, order_, lines_, exchanging_);
}

}  // namespace lockstep
