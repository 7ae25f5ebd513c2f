#include "models/memory/partition_input.hpp"

#include "models/isa/types.hpp"

namespace lockstep {

PartitionInput::PartitionInput(const NocParameters& noc, const L2Parameters& l2,
                               const L2Halves& halves, RequestSources& sources, std::size_t tenants,
                               TransactionPool& transactions, PartitionBanks& banks,
                               PartitionStatistics& statistics, PartitionAgenda& agenda,
                               bool express)
    : noc_(noc),
      bypass_places_(l2.bypass_queue),
      past_ports_(l2.bypass_path == BypassPath::own),
      express_(express),
      sources_(sources),
      transactions_(transactions),
      banks_(banks),
      statistics_(statistics),
      agenda_(agenda),
      halves_(halves),
      port_(sources.size(), l2.ports, noc.burst),
      waits_(tenants) {
  for (std::uint32_t sectors = 0; sectors < flits_.size(); ++sectors)
    flits_[sectors] = noc.flits(sectors * static_cast<std::uint32_t>(sector_bytes));
}

void PartitionInput::receive(L2Cycle now, Time end) {
  while (!arrivals_.empty() && arrivals_.front().cycle <= now) {
    const std::uint32_t index = arrivals_.front().transaction;
    arrivals_.pop();
    Transaction& t = transactions_[index];
    sources_.arrived(t.request);
    if (goes_through(index, t, now, end)) continue;
    if (halves_.are_apart() && has_to_cross(t)) [[unlikely]]
      halves_.cross(index, flits(t.request) + noc_.flits(t.response_bytes()), now);
    else
      enter(index, now);
  }
  while (halves_.next() <= now) {
    const std::uint32_t index = halves_.take();
    Transaction& t = transactions_[index];
    t.arrival = now;
    if (t.request.operation == MemoryOperation::load && (t.request.flags & flag_discard) == 0)
      banks_.keep_copy(t, now);
    enter(index, now);
  }
  agenda_.arrivals =
      std::min(halves_.next(), arrivals_.empty() ? L2Cycle::never() : arrivals_.front().cycle);
}

bool PartitionInput::goes_through(std::uint32_t index, Transaction& t, L2Cycle now, Time end) {
  if (!express_ || t.arrival != now || !port_.empty() || halves_.are_apart() ||
      !banks_.admits_all())
    return false;
  const L2Cycle following = arrivals_.empty() ? L2Cycle::never() : arrivals_.front().cycle;
  const std::uint32_t flits = this->flits(t.request);
  const L2Cycle received = now + (flits - 1);
  if (following <= received || !banks_.takes_ahead(t.bank, now, received, end) ||
      !port_.pass(sources_.place_of(t.request), now.value(), flits))
    return false;
  t.bypass = false;
  if (flits == 1) {
    waits_.pass(t.request.tenant, now.value(), now.value() + 1);
  } else {
    waits_.enter(t.request.tenant, now.value());
    took(t.request.tenant, now, received);
  }
  banks_.push_express(t.bank, index, t.request.tenant, received, {following, end});
  return true;
}

bool PartitionInput::has_to_cross(Transaction& t) {
  const bool is_far = halves_.is_far(t.request);
  if (!is_far && t.request.operation == MemoryOperation::load) return false;
  t.copied = banks_.use_copy(t);
  return is_far && !t.copied;
}

void PartitionInput::enter(std::uint32_t index, L2Cycle now) {
  Transaction& t = transactions_[index];
  t.bypass = banks_.sends_past(t, now);
  waits_.enter(t.request.tenant, t.arrival.value());
  if (t.bypass && past_ports_ && queue_past(index, now)) return;
  port_.arrive(sources_.place_of(t.request), index, flits(t.request),
               (t.bypass ? past_banks : t.bank) | std::uint32_t{t.request.tenant} << 16);
  agenda_.input = now;
}

void PartitionInput::arbitrate(L2Cycle now) {
  if (bypass_places_ == 0) wanted_room_ = 0;
  const auto progress = port_.step(
      now.value(), L2Cycle::never().value(),
      [&](std::uint32_t index, std::uint32_t target) { return route(index, target, now); },
      [this](std::uint32_t index) { transactions_.prefetch(index); });
  refused_ = progress.blocked;
  agenda_.input = L2Cycle{progress.next};
}

bool PartitionInput::route(std::uint32_t index, std::uint32_t target, L2Cycle now) {
  const L2Cycle arrival = transactions_[index].arrival;
  const std::uint32_t bank = target & 0xffff;
  const auto tenant = static_cast<std::uint16_t>(target >> 16);
  if (bank == past_banks && bypass_places_ > 0) return queue_past(index, now);
  if (!(bank != past_banks ? banks_.push(bank, index, tenant, now) : push_past(index, now)))
    return false;
  took(tenant, arrival, now);
  return true;
}

/// Notes that a request has found a place in a bank's queue or in the DRAM queue.
void PartitionInput::took(std::uint16_t tenant, L2Cycle arrival, L2Cycle now) {
  waits_.take(tenant, now.value(), now.value() + 1, statistics_.port_wait_behind);
  statistics_.tenant[tenant].port_cycles += static_cast<std::uint64_t>(now - arrival);
}

bool PartitionInput::queue_past(std::uint32_t index, L2Cycle now) {
  if (bypasses_.size() >= bypass_places_) return false;
  if (bypasses_.empty()) PartitionAgenda::wake(agenda_.bypasses, now);
  bypasses_.push(index);
  return true;
}

void PartitionInput::pass(L2Cycle now) {
  wanted_room_ = 0;
  agenda_.bypasses = L2Cycle::never();
  const std::uint32_t index = bypasses_.front();
  const std::uint16_t tenant = transactions_[index].request.tenant;
  const L2Cycle arrival = transactions_[index].arrival;
  if (!push_past(index, now)) return;
  took(tenant, arrival, now);
  bypasses_.pop();
  place_made(now);
  if (!bypasses_.empty()) agenda_.bypasses = now + 1;
}

bool PartitionInput::push_past(std::uint32_t index, L2Cycle now) {
  if (banks_.push_past(index, now)) return true;
  const bool store = transactions_[index].request.operation == MemoryOperation::store;
  wanted_room_ |= store ? write_room : read_room;
  return false;
}

std::uint32_t PartitionInput::flits(const MemoryRequest& request) const {
  switch (request.operation) {
    case MemoryOperation::store:
      return flits_[request.sector_count()];
    case MemoryOperation::atomic:
      return noc_.flits(request.shape().bytes() / request.shape().words() * request.lanes);
    default:
      return flits_[0];
  }
}

}  // namespace lockstep
