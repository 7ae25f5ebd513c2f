#include "models/isa/lowering/schedule/pressure.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

void StretchRegisters::begin(const ir::Operation* first, std::uint32_t count, LiveWalker& walker) {
  registers_.clear();
  entries_.clear();
  mentions_.assign(count, {});
  for (std::uint32_t n = 0; n < count; ++n) {
    for_each_use(first[n], [&](const ir::Operand& u) { add_read(n, entry_of(u.index, walker)); });
    for_each_definition(first[n], [&](const ir::Operand& d) {
      mentions_[n].writes.push_back(entry_of(d.index, walker));
    });
  }
  for (std::uint32_t n = count; n-- > 0;) walker.step_back(first[n]);
  for (std::size_t e = 0; e < entries_.size(); ++e)
    entries_[e].live_before = walker.live().contains(registers_[e]);
  rows_before_ = walker.live_rows();
}

std::uint32_t StretchRegisters::entry_of(std::uint32_t index, const LiveWalker& behind) {
  const std::uint32_t known = entry_[index];
  if (known < registers_.size() && registers_[known] == index) return known;
  entry_[index] = static_cast<std::uint32_t>(registers_.size());
  registers_.push_back(index);
  Entry entry;
  entry.rows = rows_of(function_.registers[index].type);
  entry.live_after = behind.live().contains(index);
  entries_.push_back(entry);
  return entry_[index];
}

void StretchRegisters::add_read(std::uint32_t operation, std::uint32_t entry) {
  auto& reads = mentions_[operation].reads;
  if (std::find(reads.begin(), reads.end(), entry) != reads.end()) return;
  reads.push_back(entry);
  ++entries_[entry].readers;
  entries_[entry].readers_parity ^= operation;
}

Pressure::Pressure(const StretchRegisters& registers)
    : registers_(registers),
      state_(registers.entries()),
      rows_(static_cast<int>(registers.rows_before())) {}

int Pressure::change(std::uint32_t operation) const {
  const StretchRegisters::Mentions& mentions = registers_.of(operation);
  int sum = 0;
  for (const std::uint32_t w : mentions.writes)
    if (!state_[w].live_before) sum += static_cast<int>(state_[w].rows);
  for (const std::uint32_t r : mentions.reads) {
    const StretchRegisters::Entry& entry = state_[r];
    if (entry.readers == 1 && !entry.live_after && entry.live_before)
      sum -= static_cast<int>(entry.rows);
  }
  return sum;
}

void Pressure::take(std::uint32_t operation) {
  const StretchRegisters::Mentions& mentions = registers_.of(operation);
  for (const std::uint32_t r : mentions.reads) {
    StretchRegisters::Entry& entry = state_[r];
    --entry.readers;
    entry.readers_parity ^= operation;
    if (entry.readers != 0 || entry.live_after || !entry.live_before) continue;
    entry.live_before = false;
    rows_ -= static_cast<int>(entry.rows);
  }
  for (const std::uint32_t w : mentions.writes) {
    if (state_[w].live_before) continue;
    state_[w].live_before = true;
    rows_ += static_cast<int>(state_[w].rows);
  }
  peak_ = std::max(peak_, rows_);
}

}  // namespace lockstep::isa::lowering
