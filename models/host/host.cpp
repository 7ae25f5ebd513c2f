#include "models/host/host.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/host/remote_memory.hpp"

namespace lockstep {

namespace {

/// Frames in GPU memory among page table entries.
std::vector<FrameRun> frames_of(const std::vector<std::uint64_t>& entries) {
  std::vector<FrameRun> runs;
  for (const std::uint64_t bits : entries) {
    const PageTableEntry entry{bits};
    if (!entry.is(PageTableEntry::present) || entry.is(PageTableEntry::remote)) continue;
    append_frame(runs, entry.address(), page_bytes);
  }
  return runs;
}

std::vector<std::uint32_t> priorities_of(const std::vector<Tenant>& tenants) {
  std::vector<std::uint32_t> result;
  for (const Tenant& tenant : tenants) result.push_back(tenant.priority);
  return result;
}

}  // namespace

Host::Host(Setup setup)
    : shared_{.link = HostLink(
                  setup.parameters, setup.mapping, std::move(setup.to_partitions),
                  [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
                    return runs_[transfer.tenant]->host_bytes(transfer, offset, bytes);
                  },
                  priorities_of(*setup.tenants)),
              .driver =
                  Driver({setup.memory_bytes, setup.mapping.partitions(), setup.tenants->size(),
                          make_page_manager(setup.page_manager), setup.to_gmmu}),
              .managed = ManagedMemory(managed_setup(setup)),
              .to_dispatcher = setup.to_dispatcher,
              .launch_overhead = setup.parameters.launch_overhead,
              .statistics = {},
              .kernels = {}},
      to_sms_(std::move(setup.to_sms)),
      printed_(*setup.tenants, std::move(setup.print)) {
  for (std::size_t t = 0; t < setup.tenants->size(); ++t) {
    const std::uint16_t module = setup.module_of_tenant[t];
    runs_.push_back(std::make_unique<TenantRun>((*setup.tenants)[t], static_cast<std::uint16_t>(t),
                                                module, *setup.modules[module], setup.capture));
  }
  set_tenants(shared_.statistics, setup.tenants->size());
}

ManagedMemory::Setup Host::managed_setup(const Setup& setup) {
  ManagedMemory::Setup managed;
  managed.fault = setup.fault_handling.parameters<HostFaultParameters>();
  managed.link_latency = setup.parameters.link_latency;
  managed.seed = setup.seed;
  managed.priorities = priorities_of(*setup.tenants);
  managed.record_faults = setup.record_faults;
  managed.prefetcher = make_prefetcher(setup.prefetcher);
  managed.eviction = make_eviction(setup.eviction);
  managed.has_data = [this](std::uint16_t tenant, std::uint32_t buffer, std::uint64_t page) {
    return runs_[tenant]->buffer(buffer).has_data(page);
  };
  managed.buffer_bytes = [this](std::uint16_t tenant, std::uint32_t buffer) {
    return runs_[tenant]->buffer(buffer).size();
  };
  managed.describe = [this](std::uint16_t tenant, std::uint32_t buffer) {
    return runs_[tenant]->describe(buffer);
  };
  managed.remote_address = remote_address;
  managed.is_leaving = [this](std::uint16_t tenant) { return runs_[tenant]->is_leaving(); };
  return managed;
}

Time Host::next_activity() const {
  Time next = std::min({shared_.link.next_activity(), shared_.driver.next_activity(),
                        shared_.managed.next_activity()});
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
    } else if (shared_.link.next_activity() <= now) {
      shared_.link.act(now, outbox);
    } else {
      shared_.driver.act(now, outbox);
      follow_up(now, outbox);
    }
  }
}

void Host::take(const MessageHeader& message, Outbox& outbox) {
  const Time now = message.arrival;
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      return take_answer(message, outbox);
    case MessageKind::memory_request:
      return serve(message, outbox);
    case MessageKind::zero_done:
      shared_.driver.zero_done(message.body<ZeroRange>(), now, shared_.link, outbox);
      break;
    case MessageKind::grid_done: {
      const auto& done = message.body<GridDone>();
      runs_[shared_.kernels[done.grid].tenant]->grid_done(done, now, shared_);
      break;
    }
    case MessageKind::instructions_reached: {
      const auto& progress = message.body<TenantProgress>();
      runs_[progress.tenant]->instructions_reached(progress.executed, now, shared_);
      break;
    }
    case MessageKind::far_fault:
      // Whoever faulted at the same time is heard before anything is done about it.
      return shared_.managed.fault(message, shared_.context(now, outbox));
    case MessageKind::unmapped:
      shared_.driver.unmapped(message);
      break;
    case MessageKind::access_violation:
      take_violation(message, outbox);
      break;
    case MessageKind::printed:
      return take_printed(message);
    default:
      LOCKSTEP_CHECK(false, "the host got a message of kind " + std::to_string(message.kind));
  }
  follow_up(now, outbox);
}

void Host::take_answer(const MessageHeader& message, Outbox& outbox) {
  const Time now = message.arrival;
  const std::uint32_t tag = message.body<MemoryResponse>().tag;
  if (!HostLink::owns(tag)) {
    shared_.driver.write_done(tag, now, shared_.link, outbox);
  } else {
    const std::optional<Transfer> done = shared_.link.take(message);
    if (!done) return;
    if ((done->operation & Driver::mapping_operation) != 0) {
      shared_.driver.transfer_done(*done, now, shared_.link, outbox);
    } else if ((done->operation & ManagedMemory::departure_operation) != 0) {
      shared_.managed.transfer_done(*done, shared_.context(now, outbox));
    } else {
      runs_[done->tenant]->transfer_done(*done);
    }
  }
  follow_up(now, outbox);
}

void Host::take_printed(const MessageHeader& message) {
  const std::span<const std::byte> text = message.payload();
  printed_.add(message.body<TenantNotice>().tenant,
               {reinterpret_cast<const char*>(text.data()), text.size()});
}

void Host::take_violation(const MessageHeader& message, Outbox& outbox) {
  const char* where = reinterpret_cast<const char*>(message.payload_data());
  const char* what = where + std::strlen(where) + 1;
  const char* advice = what + std::strlen(what) + 1;
  const UserError error(where, what, advice);
  TenantRun& run = *runs_[message.body<TenantNotice>().tenant];
  run.violation(error.what(), message.arrival, shared_, outbox);
}

/// What has ended may let something else begin, until nothing more does.
void Host::follow_up(Time now, Outbox& outbox) {
  const DriverContext context = shared_.context(now, outbox);
  bool more = true;
  while (more) {
    more = false;
    for (const std::uint32_t migration : shared_.driver.take_mapped()) {
      shared_.managed.mapped(migration, context);
      more = true;
    }
    for (Unmapped& pages : shared_.driver.take_unmapped()) {
      more = true;
      if (pages.owner == MapRequest::nobody) {
        shared_.driver.give_back(frames_of(pages.entries));
      } else {
        shared_.managed.unmapped(std::move(pages), context);
      }
    }
    shared_.managed.act(context);
    for (const ManagedMemory::Failure& failure : shared_.managed.take_failures()) {
      runs_[failure.tenant]->violation(failure.message, now, shared_, outbox);
      more = true;
    }
    more |= run_tenants(now, outbox);
    for (const std::uint64_t operation : shared_.managed.take_operations()) {
      for (const auto& run : runs_) run->operation_done(operation);
      more = true;
    }
  }
}

void Host::serve(const MessageHeader& message, Outbox& outbox) {
  const auto& request = message.body<MemoryRequest>();
  ++shared_.statistics.remote_requests[request.tenant];
  HostBuffer& buffer = runs_[request.tenant]->buffer(remote_buffer(request.line));
  const std::vector<std::byte> answer = serve_remote(message, buffer);
  // A store's bytes came over the link, a load's go over it.
  shared_.link.occupy(false, message.arrival, message.payload_bytes, request.tenant);
  const Time departure = shared_.link.occupy(true, message.arrival, answer.size(), request.tenant);
  outbox.send(to_sms_[request.requester], departure, kind_of(MessageKind::memory_response),
              answer_to(request), answer);
}

bool Host::run_tenants(Time now, Outbox& outbox) {
  bool changed = false;
  const auto run_all = [&] {
    for (std::size_t t = 0; t < runs_.size(); ++t) {
      TenantRun& run = *runs_[t];
      if (run.done()) continue;
      const bool was_leaving = run.is_leaving();
      run.run(now, shared_, outbox);
      changed |= was_leaving != run.is_leaving();
      if (run.done()) printed_.end(t);
    }
  };
  run_all();
  const auto is_settled = [](const auto& run) { return run->is_settled(); };
  if (all_settled_ || !std::all_of(runs_.begin(), runs_.end(), is_settled)) return changed;
  all_settled_ = true;
  for (const auto& run : runs_) run->stop(now, shared_, outbox);
  run_all();
  return changed;
}

bool Host::finished() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->done(); }) &&
         shared_.driver.idle() && !shared_.link.inspects();
}

void Host::serialize(Archive& archive) {
  archive.section("host", 1);
  archive(shared_, to_sms_, printed_, all_settled_);
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
  for (const std::string& one : {shared_.driver.waiting_for(), shared_.managed.waiting_for()}) {
    if (!one.empty()) text += (text.empty() ? "" : " | ") + one;
  }
  return text;
}

}  // namespace lockstep
