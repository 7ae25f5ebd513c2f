#include "models/memory/partition_core.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep {

PartitionCore::PartitionCore(const MemoryParameters& parameters, const NocParameters& noc,
                             const MemoryPolicies& policies, PartitionId index,
                             const AddressMapping& mapping, const std::vector<Link>& to_sms,
                             Link to_gmmu, Link to_host, std::size_t tenants)
    : parameters_(parameters),
      noc_(noc),
      index_(index),
      mapping_(mapping),
      period_(Clock(parameters.clock).period()),
      load_flits_(noc.flits(0)),
      sms_(static_cast<std::uint32_t>(to_sms.size())),
      to_sms_(to_sms),
      to_gmmu_(to_gmmu),
      to_host_(to_host),
      memory_(parameters.capacity.count() / parameters.partitions),
      policy_(make_cache_policy(policies.cache_policy)),
      dram_(parameters.dram, policies.dram_scheduler,
            parameters.dram.refi.count() * index.value() / parameters.partitions, tenants,
            statistics_),
      context_{parameters_.l2, period_, transactions_, dram_, *policy_, statistics_},
      input_(sms_ + 2, parameters.l2.ports),
      output_(parameters.l2.response_rate),
      unanswered_(sms_ + 2) {
  set_tenants(statistics_, tenants);
  for (std::uint32_t i = 0; i < parameters.l2.total_banks(); ++i)
    banks_.emplace_back(parameters_.l2, i, tenants);
}

Time PartitionCore::next_activity() const {
  return std::min(cycle_ == L2Bank::idle ? Time::never() : edge(cycle_), dram_.next_activity());
}

void PartitionCore::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  accept(inbox);
  warm_returns();
  warm_answers();
  while (true) {
    const Time dram = dram_.next_activity();
    const Time l2 = cycle_ == L2Bank::idle ? Time::never() : edge(cycle_);
    if (std::min(dram, l2) >= horizon) return;
    if (dram <= l2) {
      step_dram(std::min(l2, horizon - Time{1}));
    } else {
      step(outbox);
    }
  }
}

/// Commands up to `last`, until a request leaves.
void PartitionCore::step_dram(Time last) {
  const DramChannel::Step step = dram_.step(last);
  if (!step.left) return;
  if ((wanted_room_ | input_wanted_room_) != 0) room_made(cycle_at_or_after(step.at));
  if (!step.returned) return;
  const std::int64_t back =
      cycle_at_or_after(step.data_end) + parameters_.dram.path_latency.count();
  if (returns_.empty()) {
    returns_due_ = back;
    cycle_ = std::min(cycle_, back);
  }
  returns_.push({back, step.owner, step.sectors});
}

/// Wakes who waits for room in the DRAM queue.
void PartitionCore::room_made(std::int64_t cycle) {
  unsigned room = 0;
  if (dram_.room(false)) room |= read_room;
  if (dram_.room(true)) room |= write_room;
  if ((wanted_room_ & room) != 0) {
    for (L2Bank& bank : banks_)
      if ((bank.wanted_room() & room) != 0) bank.wake(cycle);
    banks_due_ = std::min(banks_due_, cycle);
    cycle_ = std::min(cycle_, cycle);
  }
  if ((input_wanted_room_ & room) != 0) {
    input_due_ = std::min(input_due_, cycle);
    cycle_ = std::min(cycle_, cycle);
  }
}

void PartitionCore::step(Outbox& outbox) {
  if (!controls_.empty()) send_controls(outbox);
  if (!arrivals_.empty() && arrivals_.front().cycle <= cycle_) receive();
  if (input_due_ <= cycle_) arbitrate();
  if (returns_due_ <= cycle_) take_returns();
  if (banks_due_ <= cycle_) run_banks();
  if (answer_due_ <= cycle_) answer_due_ = answer(outbox);
  cycle_ = next_cycle();
}

std::int64_t PartitionCore::next_cycle() const {
  std::int64_t next =
      std::min(std::min(input_due_, returns_due_), std::min(banks_due_, answer_due_));
  if (!arrivals_.empty()) next = std::min(next, arrivals_.front().cycle);
  if (!controls_.empty()) next = std::min(next, controls_.front().cycle);
  return next;
}

void PartitionCore::send_controls(Outbox& outbox) {
  while (!controls_.empty() && controls_.front().cycle <= cycle_) {
    const Control& control = controls_.front();
    last_host_departure_ = std::max(last_host_departure_, edge(cycle_));
    if (control.transaction == Transaction::none) {
      outbox.send(to_host_, last_host_departure_, kind_of(MessageKind::zero_done), control.range);
    } else {
      const Transaction& t = transactions_[control.transaction];
      outbox.send(to_host_, last_host_departure_, kind_of(MessageKind::memory_response),
                  answer_to(t.request),
                  {transactions_.data(control.transaction), t.response_bytes()});
      transactions_.release(control.transaction);
    }
    controls_.pop();
  }
}

void PartitionCore::receive() {
  while (!arrivals_.empty() && arrivals_.front().cycle <= cycle_) {
    const std::uint32_t index = arrivals_.front().transaction;
    arrivals_.pop();
    Transaction& t = transactions_[index];
    if (policy_->has(CachePolicy::admits) && t.request.operation != MemoryOperation::atomic &&
        policy_->on_arrival(t.request, edge(cycle_)) == CacheAdmission::to_dram)
      t.bypass = true;
    const std::uint32_t sender = sender_of(t.request);
    ++unanswered_[sender];
    // The host limits itself by the lines it has in flight, the GMMU by walkers and exchanges.
    LOCKSTEP_CHECK(sender >= sms_ || unanswered_[sender] <= noc_.credits,
                   "an SM used more credits than it has");
    input_.arrive(sender, index, request_flits(t.request),
                  (t.bypass ? bypass_target : t.bank) | std::uint32_t{t.request.tenant} << 16);
    input_due_ = cycle_;
  }
}

void PartitionCore::arbitrate() {
  input_wanted_room_ = 0;
  const auto progress = input_.step(
      cycle_, L2Bank::idle,
      [this](std::uint32_t index, std::uint32_t target) { return route(index, target); },
      [this](std::uint32_t index) { transactions_.prefetch(index); });
  input_refused_ = progress.blocked;
  input_due_ = progress.next;
}

bool PartitionCore::route(std::uint32_t index, std::uint32_t target) {
  const std::uint32_t number = target & 0xffff;
  if (number == bypass_target) return bypass(index);
  L2Bank& bank = banks_[number];
  if (!bank.has_room()) return false;
  bank.push(index, static_cast<std::uint16_t>(target >> 16), cycle_);
  banks_due_ = std::min(banks_due_, bank.due());
  return true;
}

/// Past the banks into the DRAM queue.
bool PartitionCore::bypass(std::uint32_t index) {
  Transaction& t = transactions_[index];
  const bool store = t.request.operation == MemoryOperation::store;
  if (!dram_.room(store)) {
    input_wanted_room_ |= store ? write_room : read_room;
    return false;
  }
  ++statistics_.tenant[t.request.tenant].bypasses;
  dram_.enqueue(edge(cycle_), std::uint64_t{t.line} * line_bytes, t.request.sectors, store,
                t.request, bypass_owner | index);
  if (store) {
    banks_[t.bank].probe_store(context_, index);
    bypass_answers_.push({index, cycle_ + 1});
    expect_answer(cycle_ + 1);
  }
  return true;
}

/// What the fills on their way will touch is brought near.
void PartitionCore::warm_returns() const {
  const auto for_each_fill = [&](auto&& function) {
    for (std::size_t i = 0; i < returns_.size(); ++i)
      if (const std::uint32_t owner = returns_[i].owner; (owner & bypass_owner) == 0)
        function(banks_[owner >> 16], owner & 0xffff);
  };
  for_each_fill([](const L2Bank& bank, std::uint32_t mshr) { bank.warm_mshr(mshr); });
  for_each_fill([&](const L2Bank& bank, std::uint32_t mshr) {
    bank.warm_fill(transactions_, mshr);
    memory_.warm_line(std::uint64_t{bank.line_of(mshr)} * line_bytes);
  });
}

/// What the answers that have not left yet will read is brought near.
void PartitionCore::warm_answers() const {
  const auto for_each_answer = [&](auto&& function) {
    for (const L2Bank& bank : banks_)
      for (const unsigned source : {0u, 1u})
        for (std::size_t i = 0; i < bank.answers(source).size(); ++i)
          function(bank.answers(source)[i].transaction);
  };
  for_each_answer([&](std::uint32_t index) { transactions_.warm(index); });
  for_each_answer([&](std::uint32_t index) {
    const Transaction& t = transactions_[index];
    if (t.next_read != Transaction::has_read) memory_.warm_line(std::uint64_t{t.line} * line_bytes);
  });
}

void PartitionCore::prefetch_return(std::size_t place) const {
  if (place >= returns_.size() || (returns_[place].owner & bypass_owner) != 0) return;
  banks_[returns_[place].owner >> 16].prefetch_fill(transactions_, returns_[place].owner & 0xffff);
}

void PartitionCore::take_returns() {
  while (!returns_.empty() && returns_.front().cycle <= cycle_) {
    const Return& r = returns_.front();
    if (r.owner & bypass_owner) {
      bypass_answers_.push({r.owner & ~bypass_owner, cycle_});
      expect_answer(cycle_);
    } else {
      L2Bank& bank = banks_[r.owner >> 16];
      if (!bank.has_fill_room()) {
        returns_refused_ = true;
        returns_due_ = L2Bank::idle;
        return;
      }
      bank.push_fill({r.owner & 0xffff, r.sectors});
      banks_due_ = std::min(banks_due_, bank.due());
    }
    returns_.pop();
    prefetch_return(returns_ahead);
  }
  returns_due_ = returns_.empty() ? L2Bank::idle : returns_.front().cycle;
}

/// The first bank examined rotates by one every cycle.
void PartitionCore::run_banks() {
  banks_due_ = L2Bank::idle;
  wanted_room_ = 0;
  const auto count = static_cast<std::uint32_t>(banks_.size());
  const auto first = static_cast<std::uint32_t>(cycle_ & (count - 1));
  for (std::uint32_t i = 0; i < count; ++i) {
    L2Bank& bank = banks_[(first + i) & (count - 1)];
    if (bank.due() <= cycle_) {
      const L2Bank::Progress progress = bank.run(context_, cycle_);
      if (progress.served && input_refused_) input_due_ = std::min(input_due_, cycle_ + 1);
      if (progress.filled && returns_refused_) {
        returns_refused_ = false;
        returns_due_ = cycle_ + 1;
      }
      if (progress.served || progress.filled) expect_answer(bank.answer_due());
    }
    banks_due_ = std::min(banks_due_, bank.due());
    wanted_room_ |= static_cast<std::uint8_t>(bank.wanted_room());
  }
}

/// Banks in turn put an answer each into the response queue.
std::int64_t PartitionCore::answer(Outbox& outbox) {
  while (!departures_.empty() && departures_.front() <= cycle_) departures_.pop();
  std::int64_t next = L2Bank::idle;
  const auto offer = [&](const Ring<L2Bank::Pending>& answers, auto pop) {
    if (answers.empty()) return;
    if (answers.front().ready <= cycle_ && respond(answers.front().transaction, outbox)) pop();
    if (answers.empty()) return;
    const bool full = departures_.size() >= parameters_.l2.response_queue;
    const std::int64_t at = std::max(answers.front().ready, cycle_ + 1);
    next = std::min(next, full ? std::max(at, departures_.front()) : at);
  };
  const auto count = static_cast<std::uint32_t>(banks_.size());
  const auto first = static_cast<std::uint32_t>(cycle_ & (count - 1));
  const auto source = static_cast<unsigned>(cycle_ & 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    L2Bank& bank = banks_[(first + i) & (count - 1)];
    for (const unsigned from : {source, source ^ 1})
      offer(bank.answers(from), [&] { bank.pop_answer(from, cycle_); });
    banks_due_ = std::min(banks_due_, bank.due());
  }
  offer(bypass_answers_, [&] { bypass_answers_.pop(); });
  return next;
}

bool PartitionCore::respond(std::uint32_t index, Outbox& outbox) {
  if (departures_.size() >= parameters_.l2.response_queue) return false;
  const Transaction& t = transactions_[index];
  const MemoryRequest& request = t.request;
  const std::uint32_t bytes = t.response_bytes();
  const std::int64_t departure = output_.reserve(cycle_, noc_.flits(bytes));
  departures_.push(departure);
  const std::uint32_t sender = sender_of(request);
  Time at = edge(departure);
  const bool to_host = sender == sms_ + 1;
  if (to_host) at = last_host_departure_ = std::max(last_host_departure_, at);
  Link& link = sender < sms_ ? to_sms_[sender] : to_host ? to_host_ : to_gmmu_;
  std::byte* data = outbox.reserve(link, at, kind_of(MessageKind::memory_response),
                                   blank_body<MemoryResponse>, bytes);
  auto& response = body_before<MemoryResponse>(data);
  fill_answer(request, response);
  response.l2_hits = t.hits;
  if (t.next_read == Transaction::has_read) {
    std::memcpy(data, transactions_.data(index), bytes);
  } else {
    reads_.remove(transactions_, index);
    read(index, data);
  }
  statistics_.tenant[request.tenant].bytes_out += bytes;
  --unanswered_[sender];
  transactions_.release(index);
  return true;
}

std::string PartitionCore::waiting_for() const {
  if (unanswered() == 0) return "";
  std::string text = std::to_string(transactions_.used()) + " requests in flight, " +
                     std::to_string(dram_.waiting()) + " in the DRAM queue, lines owed per bank:";
  for (const L2Bank& bank : banks_) text += ' ' + std::to_string(bank.outstanding_lines());
  for (std::size_t i = 0; i < unanswered_.size(); ++i) {
    if (unanswered_[i] == 0) continue;
    if (i + 2 < unanswered_.size()) {
      text += "; sm[" + std::to_string(i) + "]: ";
    } else {
      text += i + 1 == unanswered_.size() ? "; host: " : "; gmmu: ";
    }
    text += std::to_string(unanswered_[i]);
  }
  return text;
}

void PartitionCore::serialize(Archive& archive) {
  archive(to_sms_, to_gmmu_, to_host_, statistics_);
  memory_.serialize(archive);
  transactions_.serialize(archive);
  reads_.serialize(archive);
  policy_->serialize(archive);
  dram_.serialize(archive);
  for (L2Bank& bank : banks_) bank.serialize(archive);
  archive(input_, output_, arrivals_, returns_, controls_, bypass_answers_, departures_,
          unanswered_, last_host_departure_, cycle_, input_due_, returns_due_, banks_due_,
          answer_due_, input_refused_, returns_refused_, wanted_room_, input_wanted_room_);
}

}  // namespace lockstep
