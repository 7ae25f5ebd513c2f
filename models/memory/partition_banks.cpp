#include "models/memory/partition_banks.hpp"

#include <algorithm>

namespace lockstep {

PartitionBanks::PartitionBanks(const MemoryParameters& p, PartitionId index, std::size_t tenants,
                               std::unique_ptr<CachePolicy> policy,
                               std::unique_ptr<Replacement> replacement,
                               std::vector<std::unique_ptr<DramScheduler>> schedulers,
                               TransactionPool& transactions, PartitionStatistics& statistics,
                               PartitionAgenda& agenda)
    : count_(p.l2.total_banks()),
      path_latency_(p.dram.path_latency),
      transactions_(transactions),
      statistics_(statistics),
      agenda_(agenda),
      policy_(std::move(policy)),
      replacement_(std::move(replacement)),
      // Channels do not refresh together.
      dram_(p.dram, std::move(schedulers), p.dram.refi.count() * index.value() / p.partitions,
            p.dram.refi.count() / p.partitions, tenants, statistics),
      context_{p.l2, L2Clock(p.clock), transactions, dram_, *policy_, *replacement_, statistics} {
  for (std::uint32_t i = 0; i < count_; ++i) banks_.emplace_back(p.l2, i, tenants);
  answers_due_.assign(2 * std::size_t{count_}, L2Cycle::never());
}

/// Source: memory-interference.md, 3.3.2: a load that bypasses a write-back L2 must not miss data
/// that only the L2 has.
bool PartitionBanks::policy_sends_past(const Transaction& t, L2Cycle now) {
  const MemoryOperation operation = t.request.operation;
  if (operation == MemoryOperation::atomic ||
      policy_->on_arrival(t.request, t.line, context_.clock.edge(now)) == CacheAdmission::to_bank)
    return false;
  if (operation == MemoryOperation::store || !banks_[t.bank].has_dirty(t.line, t.request.sectors))
    return true;
  ++statistics_.tenant[t.request.tenant].dirty_lookups;
  return false;
}

inline bool PartitionBanks::run(L2Bank& bank, L2Cycle now) {
  const L2Bank::Progress progress = bank.run(context_, now);
  if (progress.filled && returns_refused_) {
    returns_refused_ = false;
    agenda_.returns = now + 1;
  }
  if (progress.served || progress.filled)
    PartitionAgenda::wake(agenda_.answers, note_answers(bank));
  return progress.served;
}

void PartitionBanks::push_express(std::uint32_t bank, std::uint32_t transaction,
                                  std::uint16_t tenant, L2Cycle received,
                                  const KnownArrivals& known) {
  L2Bank& b = banks_[bank];
  const bool was_empty = b.is_empty();
  b.push(transaction, tenant, received);
  if (was_empty && known.nothing_until(b.due(), agenda_, context_.clock, dram_.next_activity())) {
    run(b, b.due());
    wanted_room_ |= static_cast<std::uint8_t>(b.wanted_room());
  }
  PartitionAgenda::wake(agenda_.banks, b.due());
}

bool PartitionBanks::push_past(std::uint32_t index, L2Cycle now) {
  const Transaction& t = transactions_[index];
  const bool store = t.request.operation == MemoryOperation::store;
  const PartitionOffset offset{std::uint64_t{t.line} * line_bytes};
  if (!dram_.room(offset, t.request, store)) return false;
  ++statistics_.tenant[t.request.tenant].bypasses;
  dram_.enqueue(context_.clock.edge(now), offset, t.request.sectors, store, t.request,
                owner_past | index);
  if (store) {
    // No L2 has lines of CPU cores.
    if (t.request.source != SourceKind::cpu) banks_[t.bank].probe_store(context_, index);
    add_answer_past(index, now + 1);
  }
  return true;
}

const DramChannel::Step& PartitionBanks::step_dram(Time last) {
  const DramChannel::Step& step = dram_.step(last);
  if (!step.returned) return step;
  const L2Cycle back = context_.clock.at_or_after(step.data_end) + path_latency_.count();
  if (returns_.empty()) agenda_.returns = back;
  returns_.push({back, step.owner, step.sectors});
  return step;
}

void PartitionBanks::room_made(unsigned room, L2Cycle cycle) {
  if ((wanted_room_ & room) == 0) return;
  for (L2Bank& bank : banks_)
    if ((bank.wanted_room() & room) != 0) bank.wake(cycle);
  PartitionAgenda::wake(agenda_.banks, cycle);
}

void PartitionBanks::take_returns(L2Cycle now) {
  while (!returns_.empty() && returns_.front().cycle <= now) {
    const Return& r = returns_.front();
    if (r.owner & owner_past) {
      add_answer_past(r.owner & ~owner_past, now);
    } else {
      L2Bank& bank = banks_[r.owner >> 16];
      if (!bank.has_fill_room()) {
        returns_refused_ = true;
        agenda_.returns = L2Cycle::never();
        return;
      }
      bank.push_fill({r.owner & 0xffff, r.sectors});
      PartitionAgenda::wake(agenda_.banks, bank.due());
    }
    returns_.pop();
    prefetch_return(returns_ahead);
  }
  agenda_.returns = returns_.empty() ? L2Cycle::never() : returns_.front().cycle;
}

bool PartitionBanks::run(L2Cycle now) {
  agenda_.banks = L2Cycle::never();
  wanted_room_ = 0;
  bool served = false;
  const auto first = static_cast<std::uint32_t>(now.value() & (count() - 1));
  for (std::uint32_t i = 0; i < count(); ++i) {
    L2Bank& bank = banks_[(first + i) & (count() - 1)];
    if (bank.due() <= now) served |= run(bank, now);
    PartitionAgenda::wake(agenda_.banks, bank.due());
    wanted_room_ |= static_cast<std::uint8_t>(bank.wanted_room());
  }
  return served;
}

void PartitionBanks::prefetch_return(std::size_t place) const {
  if (place >= returns_.size() || (returns_[place].owner & owner_past) != 0) return;
  banks_[returns_[place].owner >> 16].prefetch_fill(transactions_, returns_[place].owner & 0xffff);
}

void PartitionBanks::warm_returns(const PartitionBytes& bytes) const {
  const auto for_each_fill = [&](auto&& function) {
    for (std::size_t i = 0; i < returns_.size(); ++i)
      if (const std::uint32_t owner = returns_[i].owner; (owner & owner_past) == 0)
        function(banks_[owner >> 16], owner & 0xffff);
  };
  for_each_fill([](const L2Bank& bank, std::uint32_t mshr) { bank.warm_mshr(mshr); });
  for_each_fill([&](const L2Bank& bank, std::uint32_t mshr) {
    bank.warm_fill(transactions_, mshr);
    bytes.warm_line(bank.line_of(mshr));
  });
}

void PartitionBanks::warm_answers(const PartitionBytes& bytes) const {
  const auto for_each_answer = [&](auto&& function) {
    for (std::uint32_t place = 0; place < answers_due_.size(); ++place) {
      if (answers_due_[place] == L2Cycle::never()) continue;
      const Ring<L2Bank::Pending>& answers = banks_[place / 2].answers(place % 2);
      for (std::size_t i = 0; i < answers.size(); ++i) function(answers[i].transaction);
    }
  };
  for_each_answer([&](std::uint32_t index) { transactions_.warm(index); });
  for_each_answer([&](std::uint32_t index) { bytes.warm_answer(index); });
}

std::string PartitionBanks::waiting() const {
  std::string text = std::to_string(dram_.waiting()) + " in the DRAM queue, lines owed per bank:";
  for (const L2Bank& bank : banks_) text += ' ' + std::to_string(bank.outstanding_lines());
  return text;
}

void PartitionBanks::serialize(Archive& archive) {
  archive.section("partition/banks", 3);
  archive(returns_, answers_past_, answers_to_cpu_, returns_refused_, wanted_room_);
  for (L2Bank& bank : banks_) {
    bank.serialize(archive);
    note_answers(bank);
  }
  archive.section("partition/cache_policy", 1);
  policy_->serialize(archive);
  archive.section("partition/replacement", 1);
  replacement_->serialize(archive);
  archive.section("partition/dram", 6);
  dram_.serialize(archive);
}

}  // namespace lockstep
