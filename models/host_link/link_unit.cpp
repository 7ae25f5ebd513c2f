#include "models/host_link/link_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/host_link/link_messages.hpp"

namespace lockstep {

LinkUnit::Port::Port(PortSetup setup, UplinkPort uplink)
    : group(setup.group),
      to_host(setup.to_host),
      to_partitions(std::move(setup.to_partitions)),
      to_sms(std::move(setup.to_sms)),
      initial(std::move(setup.initial)),
      lines(
          setup.parameters, setup.mapping, SourceKind::link,
          [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
            return moving[transfer.owner.number].bytes.line(offset - transfer.offset, bytes,
                                                            initial);
          },
          setup.priorities, std::move(uplink), setup.stretches) {}

LinkUnit::LinkUnit(Setup setup)
    : from_host_(setup.from_host), port_of_link_(std::move(setup.port_of_link)) {
  if (setup.uplink) uplink_ = std::make_unique<Uplink>(*setup.uplink, setup.tenants);
  for (PortSetup& port : setup.ports) {
    UplinkPort uplink;
    if (uplink_) uplink = {uplink_.get(), port.tenants};
    ports_.push_back(std::make_unique<Port>(std::move(port), std::move(uplink)));
  }
}

Time LinkUnit::next_activity() const {
  Time next = Time::never();
  for (const auto& port : ports_) next = std::min(next, port->lines.next_activity());
  next = next + from_host_;
  return answers_.empty() ? next : std::min(next, answers_.front().due);
}

/// At equal times answers come before the host's messages, which may follow from them, and both
/// come before actions of the links themselves.
void LinkUnit::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  for (;;) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time due = answers_.empty() ? Time::never() : answers_.front().due;
    const Time now = std::min(arrival, next_activity());
    if (now >= horizon) break;
    if (due <= now) {
      const Answer answer = answers_.front();
      answers_.pop_front();
      TransferLines& lines = ports_[answer.port]->lines;
      answer.stretch.lines > 0 ? lines.landed(answer.stretch, by_host(now))
                               : lines.landed(answer.line, by_host(now));
    } else if (arrival <= now) {
      take(*inbox[next++], outbox);
    } else {
      act(now, std::min({arrival, due, horizon}), outbox);
    }
  }
}

void LinkUnit::act(Time now, Time until, Outbox& outbox) {
  for (const auto& port : ports_) {
    if (port->lines.next_activity() > by_host(now)) continue;
    // Departures are by the clock of the engine.
    return port->lines.act(by_host(now), by_host(until), from_host_, port->to_partitions, outbox);
  }
}

void LinkUnit::take(const MessageHeader& message, Outbox& outbox) {
  const std::uint32_t number = port_of_link_[message.link.value()];
  Port& port = *ports_[number];
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      return hear(number, message, outbox);
    case MessageKind::stretch_done:
      return hear_of_stretch(number, message, outbox);
    case MessageKind::link_transfer:
      return take_over(port, message, by_host(message.arrival));
    case MessageKind::link_bytes: {
      const auto& said = message.body<LinkBytes>();
      port.moving[said.number].bytes.hand_over(said.offset, message.payload());
      break;
    }
    case MessageKind::link_answer:
      return pass_on(port, message, outbox);
    case MessageKind::grid_begins:
    case MessageKind::grid_ends: {
      const auto& mark = message.body<GridMark>();
      const bool begins = message.kind == kind_of(MessageKind::grid_begins);
      const GridCounts counts = link_counts(port.lines, mark.tenant);
      begins ? port.grids.begin(mark, counts) : port.grids.end(mark, counts);
      break;
    }
    default:
      LOCKSTEP_CHECK(false, "a host link got a message of kind " + std::to_string(message.kind));
  }
}

void LinkUnit::take_over(Port& port, const MessageHeader& message, Time now) {
  const auto& handed = message.body<LinkTransfer>();
  if (port.moving.size() <= handed.number) port.moving.resize(handed.number + 1);
  port.moving[handed.number] = {MovingBytes(handed)};
  Transfer transfer;
  transfer.kind = static_cast<Transfer::Kind>(handed.kind);
  transfer.rank = static_cast<Transfer::Class>(handed.rank);
  transfer.tenant = handed.tenant;
  transfer.owner = {TransferPart::program, handed.number};
  transfer.bytes = handed.bytes;
  transfer.offset = handed.offset;
  transfer.buffer = handed.buffer;
  transfer.is_initial = handed.is_initial != 0;
  transfer.frames.resize(message.payload_bytes / sizeof(FrameRun));
  std::memcpy(transfer.frames.data(), message.payload_data(), message.payload_bytes);
  port.lines.start(std::move(transfer), now);
}

/// The answer is here before the host would have it.
void LinkUnit::hear(std::uint32_t number, const MessageHeader& message, Outbox& outbox) {
  Port& port = *ports_[number];
  const std::uint32_t line = RequestOwner::of(message.body<MemoryResponse>().tag).number;
  const TransferLines::Landing landing = port.lines.landing_of(line);
  Moving& moving = port.moving[landing.transfer.owner.number];
  if (landing.transfer.kind == Transfer::Kind::to_host)
    moving.bytes.arrive(landing.offset - landing.transfer.offset,
                        message.payload().subspan(landing.skip, landing.bytes),
                        [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                          outbox.send(port.to_host, message.arrival,
                                      kind_of(MessageKind::link_bytes),
                                      LinkBytes{offset, landing.transfer.owner.number}, bytes);
                        });
  answers_.push_back({due_at_host(port, message.arrival), number, line, {}});
  count(port, landing.transfer, landing.bytes, message.arrival, outbox);
}

void LinkUnit::hear_of_stretch(std::uint32_t number, const MessageHeader& message, Outbox& outbox) {
  Port& port = *ports_[number];
  const auto& done = message.body<StretchDone>();
  answers_.push_back({due_at_host(port, message.arrival), number, 0, done});
  count(port, port.lines.transfer_of(done), done.bytes, message.arrival, outbox);
}

void LinkUnit::count(Port& port, const Transfer& transfer, std::uint64_t bytes, Time now,
                     Outbox& outbox) {
  Moving& moving = port.moving[transfer.owner.number];
  moving.acknowledged += bytes;
  if (moving.acknowledged == transfer.bytes) report(port, transfer, now, outbox);
}

/// Reports the transfer at the time when its last answer would have reached the host.
void LinkUnit::report(Port& port, const Transfer& transfer, Time now, Outbox& outbox) {
  const std::uint64_t number = transfer.owner.number;
  outbox.send(port.to_host, now, kind_of(MessageKind::link_moved),
              LinkMoved{number, transfer.began});
  port.moving[number] = {};
}

void LinkUnit::pass_on(Port& port, const MessageHeader& message, Outbox& outbox) {
  const auto& said = message.body<LinkAnswer>();
  const Time now = by_host(message.arrival);
  const TenantId tenant{said.answer.tenant};
  // Bytes of a store came over the link; bytes of a load go over it.
  port.lines.occupy(false, now, said.received, tenant);
  const Time departure = port.lines.occupy(true, now, message.payload_bytes, tenant);
  outbox.send(port.to_sms[said.answer.requester], departure + from_host_,
              kind_of(MessageKind::memory_response), said.answer, message.payload());
}

StatisticsView LinkUnit::statistics(Time) {
  static const NoStatistics none;
  return statistics_view(none);
}

std::vector<StatisticsView> LinkUnit::parts(Time) {
  std::vector<StatisticsView> all;
  for (const auto& port : ports_)
    for (const bool to_gpu : {false, true}) {
      all.push_back(statistics_view(port->lines.statistics(to_gpu)));
      all.back().group = port->group;
    }
  if (uplink_)
    for (const bool to_gpu : {false, true})
      all.push_back(statistics_view(uplink_->statistics(to_gpu)));
  return all;
}

void LinkUnit::take_grid_counts(Time, std::vector<GridContribution>& taken) {
  for (const auto& port : ports_)
    port->grids.take([&](std::uint16_t tenant) { return link_counts(port->lines, tenant); }, taken);
}

std::string LinkUnit::waiting_for() const {
  const bool idle = std::all_of(ports_.begin(), ports_.end(),
                                [](const auto& port) { return port->lines.idle(); });
  return idle ? "" : "transfers are under way";
}

void LinkUnit::Port::serialize(Archive& archive) {
  archive(to_host, to_partitions, to_sms, moving, lines, grids);
}

void LinkUnit::serialize(Archive& archive) {
  archive.section("link", 3);
  if (uplink_) archive(*uplink_);
  for (const auto& port : ports_) port->serialize(archive);
  archive(answers_);
}

}  // namespace lockstep
