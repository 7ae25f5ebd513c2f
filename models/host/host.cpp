#include "models/host/host.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"

namespace lockstep {

Host::Host(Setup setup)
    : shared_{.link = HostLink(
                  setup.parameters, setup.mapping, std::move(setup.to_partitions),
                  [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
                    return runs_[transfer.tenant]->host_bytes(transfer, offset, bytes);
                  },
                  setup.tenants->size()),
              .driver =
                  Driver(setup.memory_bytes, setup.mapping.partitions(), setup.tenants->size()),
              .to_dispatcher = setup.to_dispatcher,
              .launch_overhead = setup.parameters.launch_overhead,
              .statistics = {},
              .kernels = {}},
      to_sms_(std::move(setup.to_sms)) {
  for (std::size_t t = 0; t < setup.tenants->size(); ++t) {
    const std::uint16_t module = setup.module_of_tenant[t];
    runs_.push_back(std::make_unique<TenantRun>((*setup.tenants)[t], static_cast<std::uint16_t>(t),
                                                module, *setup.modules[module], setup.capture));
  }
  set_tenants(shared_.statistics, setup.tenants->size());
}

Time Host::next_activity() const {
  Time next = shared_.link.next_activity();
  for (const auto& run : runs_) next = std::min(next, run->wake());
  return next;
}

void Host::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  for (;;) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time activity = next_activity();
    const Time now = std::min(arrival, activity);
    if (now >= horizon) break;
    if (arrival <= activity) {
      take(*inbox[next++], outbox);
    } else {
      if (shared_.link.next_activity() <= now) shared_.link.act(now, outbox);
      run_tenants(now, outbox);
    }
  }
}

void Host::take(const MessageHeader& message, Outbox& outbox) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response: {
      const std::optional<Transfer> done = shared_.link.take(message);
      if (!done) return;
      runs_[done->tenant]->transfer_done(*done);
      break;
    }
    case MessageKind::memory_request:
      serve(message, outbox);
      return;
    case MessageKind::zero_done:
      shared_.driver.zero_done(message.body<ZeroRange>());
      break;
    case MessageKind::grid_done: {
      const std::uint32_t grid = message.body<GridReference>().grid;
      runs_[shared_.kernels[grid].tenant]->grid_done(grid, message.arrival, shared_);
      break;
    }
    default:
      LOCKSTEP_CHECK(false, "the host got a message of kind " + std::to_string(message.kind));
  }
  run_tenants(message.arrival, outbox);
}

void Host::serve(const MessageHeader& message, Outbox& outbox) {
  const auto& request = message.body<MemoryRequest>();
  ++shared_.statistics.remote_requests[request.tenant];
  HostBuffer& buffer = runs_[request.tenant]->buffer(remote_buffer(request.line));
  const std::vector<std::byte> answer = serve_remote(message, buffer);
  // A store's bytes came over the link, a load's go over it.
  shared_.link.occupy(false, message.arrival, message.payload_bytes, request.tenant);
  const Time departure = shared_.link.occupy(true, message.arrival, answer.size(), request.tenant);
  outbox.send(to_sms_[request.requester], departure,
              static_cast<std::uint16_t>(MessageKind::memory_response), answer_to(request), answer);
}

void Host::run_tenants(Time now, Outbox& outbox) {
  for (const auto& run : runs_) {
    if (!run->done()) run->run(now, shared_, outbox);
  }
}

bool Host::finished() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->done(); }) &&
         shared_.driver.settled();
}

void Host::serialize(Archive& archive) {
  archive(shared_, to_sms_);
  for (const auto& run : runs_) run->serialize(archive);
}

StatisticsView Host::statistics(Time) {
  return statistics_view(shared_.statistics);
}

std::vector<StatisticsView> Host::parts(Time) {
  return {statistics_view(shared_.link.statistics(false)),
          statistics_view(shared_.link.statistics(true))};
}

std::string Host::waiting_for() const {
  std::string text;
  for (const auto& run : runs_) {
    const std::string one = run->waiting_for();
    if (!one.empty()) text += (text.empty() ? "" : " | ") + one;
  }
  return text;
}

}  // namespace lockstep
