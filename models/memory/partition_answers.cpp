#include "models/memory/partition_answers.hpp"

#include <algorithm>

namespace lockstep {

PartitionAnswers::PartitionAnswers(const L2Parameters& l2, L2Clock clock, const NocParameters& noc,
                                   RequestSources& sources, TransactionPool& transactions,
                                   PartitionBytes& bytes, CopyStretches& stretches,
                                   PartitionStatistics& statistics, PartitionAgenda& agenda)
    : queue_(l2.response_queue),
      past_queue_(l2.bypass_path == BypassPath::own),
      clock_(clock),
      noc_(noc),
      sources_(sources),
      transactions_(transactions),
      bytes_(bytes),
      stretches_(stretches),
      statistics_(statistics),
      agenda_(agenda),
      port_(l2.response_rate) {}

void PartitionAnswers::send_controls(L2Cycle now, Outbox& outbox) {
  while (!controls_.empty() && controls_.front().cycle <= now) {
    const Control& control = controls_.front();
    if (control.transaction == Transaction::none) {
      const auto way = sources_.way_to(SourceKind::host, 0, clock_.edge(now));
      if (control.range.bytes == 0)
        outbox.send(way.link, way.departure, kind_of(MessageKind::page_copied), control.copy);
      else
        outbox.send(way.link, way.departure, kind_of(MessageKind::zero_done), control.range);
    } else {
      const Transaction& t = transactions_[control.transaction];
      const auto way = sources_.way_to(t.request.source, t.request.requester, clock_.edge(now));
      outbox.send(way.link, way.departure, kind_of(MessageKind::memory_response),
                  answer_to(t.request),
                  {transactions_.data(control.transaction), t.response_bytes()});
      transactions_.release(control.transaction);
    }
    controls_.pop();
  }
  if (!inspected_.empty() && next_inspected_ <= now) send_inspected(now, outbox);
  wake_controls();
}

/// Sends a message with some inspected lines.
void PartitionAnswers::send_inspected(L2Cycle now, Outbox& outbox) {
  constexpr std::size_t most = 240;
  constexpr std::int64_t pause = 128;
  auto& [range, lines] = inspected_.front();
  const auto way = sources_.way_to(SourceKind::host, 0, clock_.edge(now));
  const auto end = lines.begin() + static_cast<std::ptrdiff_t>(std::min(most, lines.size()));
  const std::vector<InspectedLine> some(lines.begin(), end);
  lines.erase(lines.begin(), end);
  range.last = lines.empty() ? 1 : 0;
  outbox.send(way.link, way.departure, kind_of(MessageKind::inspected), range,
              std::as_bytes(std::span(some)));
  if (lines.empty()) inspected_.pop_front();
  next_inspected_ = now + pause;
}

void PartitionAnswers::collect(PartitionBanks& banks, L2Cycle now, Outbox& outbox) {
  while (!departures_.empty() && departures_.front() <= now) departures_.pop();
  const std::uint32_t count = banks.count();
  const auto first = static_cast<std::uint32_t>(now.value() & (count - 1));
  const auto source = static_cast<unsigned>(now.value() & 1);
  L2Cycle due = L2Cycle::never();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t bank = (first + i) & (count - 1);
    for (const unsigned from : {source, source ^ 1}) {
      L2Cycle ready = banks.answer_due(bank, from);
      if (ready <= now && !full()) {
        respond_in_turn(banks[bank].answers(from).front(), now, outbox);
        ready = banks.answer_left(bank, from, now);
      }
      due = std::min(due, ready);
    }
  }
  if (!past_queue_) due = std::min(due, collect_past(banks.answers_past(), now, outbox));
  if (due != L2Cycle::never()) due = std::max(due, now + 1);
  if (due != L2Cycle::never() && full()) due = std::max(due, departures_.front());
  if (past_queue_) due = std::min(due, send_at_once(banks.answers_past(), now, outbox));
  agenda_.answers = std::min(due, send_at_once(banks.answers_to_cpu(), now, outbox));
}

L2Cycle PartitionAnswers::collect_past(Ring<L2Bank::Pending>& answers, L2Cycle now,
                                       Outbox& outbox) {
  if (!answers.empty() && answers.front().ready <= now && !full()) {
    respond_in_turn(answers.front(), now, outbox);
    answers.pop();
  }
  return answers.empty() ? L2Cycle::never() : answers.front().ready;
}

L2Cycle PartitionAnswers::send_at_once(Ring<L2Bank::Pending>& answers, L2Cycle now,
                                       Outbox& outbox) {
  for (; !answers.empty(); answers.pop()) {
    if (answers.front().ready > now) return answers.front().ready;
    respond(answers.front().transaction, now, outbox);
  }
  return L2Cycle::never();
}

void PartitionAnswers::respond_in_turn(const L2Bank::Pending& answer, L2Cycle now, Outbox& outbox) {
  const Transaction& t = transactions_[answer.transaction];
  const L2Cycle departure{port_.reserve(now.value(), noc_.flits(t.response_bytes()))};
  departures_.push(departure);
  const std::uint16_t tenant = t.request.tenant;
  if (departure > answer.ready) {
    const auto waited = static_cast<std::uint64_t>(departure - answer.ready);
    statistics_.tenant[tenant].response_cycles += waited;
    statistics_.response_wait_behind.at(tenant, last_tenant_) += waited;
  }
  last_tenant_ = tenant;
  respond(answer.transaction, departure, outbox);
}

void PartitionAnswers::respond(std::uint32_t index, L2Cycle departure, Outbox& outbox) {
  const Transaction& t = transactions_[index];
  if (t.stretch) {
    acknowledge(t, departure, outbox);
    transactions_.release(index);
    return;
  }
  const MemoryRequest& request = t.request;
  const std::uint32_t size = t.response_bytes();
  const auto way = sources_.way_to(request.source, request.requester, clock_.edge(departure));
  std::byte* data = outbox.reserve(way.link, way.departure, kind_of(MessageKind::memory_response),
                                   blank_body<MemoryResponse>, size);
  auto& response = body_before<MemoryResponse>(data);
  fill_answer(request, response);
  response.l2_hits = static_cast<std::uint8_t>(t.hits | t.arriving << 4);
  if (t.bypass) response.flags |= flag_past_l2;
  bytes_.take(index, data, size);
  statistics_.tenant[request.tenant].bytes_out += size;
  sources_.answered(way);
  transactions_.release(index);
}

void PartitionAnswers::acknowledge(const Transaction& t, L2Cycle departure, Outbox& outbox) {
  const auto way = sources_.way_to(t.request.source, t.request.requester, clock_.edge(departure));
  if (const std::optional<StretchDone> done = stretches_.answered(t.request.tag); done)
    outbox.send(way.link, way.departure, kind_of(MessageKind::stretch_done), *done);
  sources_.answered(way);
}

}  // namespace lockstep
