#include "tests/unit/driver/driver_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "core/parameters/document.hpp"
#include "models/fragmentation/foreign_pages.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test {
namespace {

struct Chosen {
  PolicyChoice fault_handling;
  static auto schema() {
    return parameters<Chosen>().policy("fault_handling", &Chosen::fault_handling, "host",
                                       fault_handling_policies, "the one under test");
  }
};

}  // namespace

DriverWorld::Options::Options() : fault(defaults<HostFaultParameters>()) {}

template <class Body>
void DriverWorld::arrive(Time when, MessageKind kind, const Body& body,
                         std::span<const std::byte> payload) {
  auto message = std::make_shared<IncomingMessage>(when, kind_of(kind), body, payload);
  answers_.emplace(when, [this, message] { take(*message->get()); });
}

DriverWorld::DriverWorld(const Options& options)
    : options_(options),
      memory_((options.frames + 1) * page_bytes),
      host_memory_(options.bytes),
      has_data_((options.bytes + page_bytes - 1) / page_bytes, true),
      sink_(2),
      link_(link_parameters(), AddressMapping(AddressMapping::Kind::plain, 1),
            {Link(LinkId{0}, ComponentId{0}, latency)},
            [this](const Transfer&, std::uint64_t offset, std::uint64_t bytes) {
              return std::span(host_memory_).subspan(offset, bytes);
            },
            {0, 0}),
      driver_(driver_setup()),
      managed_(std::make_unique<ManagedMemory>(managed_setup(), driver_,
                                               static_cast<const BufferDirectory&>(*this))) {
  set_tenants(statistics_, leaving_.size());
  for (std::size_t i = 0; i < host_memory_.size(); ++i)
    host_memory_[i] = static_cast<std::byte>(i / 7 + 1);
  for (std::size_t page = 0; page < options.foreign_pages.size(); ++page)
    write_foreign_bytes(
        page, 0,
        std::span(memory_).subspan(address_of(options.foreign_pages[page]).value(), page_bytes));
  MapRequest tables;
  tables.pages = {tenant, driver_.take_addresses(tenant, options.bytes), 0};
  tables.reserved = driver_.mapped_pages(options.bytes);
  allocation_ = managed_->add(tenant, buffer, tables.pages.first, pages());
  driver_.map(std::move(tables), cycle());
  run();
  mapped.clear();
}

DriverWorld::~DriverWorld() = default;

void DriverWorld::fault(std::vector<std::uint64_t> faults, std::int64_t ns, bool permission) {
  const Time found = now_ + Time{ns * 1'000'000};
  for (const std::uint64_t page : faults) {
    FarFault body;
    body.page = (first_page + page).value();
    body.permission = permission;
    body.found = found;
    arrive(found + latency, MessageKind::far_fault, body);
  }
}

void DriverWorld::store(std::uint64_t page, std::byte value) {
  set_bits(page, PageTableEntry::dirty);
  memory_[entry(page).address()] = value;
}

void DriverWorld::set_bits(std::uint64_t page, std::uint64_t bits) {
  const std::uint64_t at = driver_.tables().entry_address(tenant, first_page + page).value();
  std::uint64_t entry;
  std::memcpy(&entry, &memory_[at], 8);
  ASSERT_TRUE(entry & PageTableEntry::present);
  entry |= bits;
  std::memcpy(&memory_[at], &entry, 8);
}

std::vector<std::byte> DriverWorld::foreign_bytes() const {
  std::vector<std::byte> bytes;
  for (const Frame page : driver_.page_manager().foreign_pages()) {
    const auto from = memory_.begin() + static_cast<std::ptrdiff_t>(address_of(page).value());
    bytes.insert(bytes.end(), from, from + page_bytes);
  }
  return bytes;
}

void DriverWorld::save_and_restore_managed() {
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  managed_->serialize(saving);
  managed_ = std::make_unique<ManagedMemory>(managed_setup(), driver_,
                                             static_cast<const BufferDirectory&>(*this));
  Archive restoring = Archive::restoring(bytes);
  managed_->serialize(restoring);
}

void DriverWorld::run(Time until) {
  for (;;) {
    deliver();
    const Time arrival = answers_.empty() ? Time::never() : answers_.begin()->first;
    const Time activity =
        std::min({link_.next_activity(), driver_.next_activity(), managed_->next_activity()});
    const Time next = std::min(arrival, activity);
    if (next == Time::never() || next >= until) return;
    now_ = next;
    if (arrival <= activity) {
      const auto take = answers_.begin()->second;
      answers_.erase(answers_.begin());
      take();
    } else if (link_.next_activity() <= now_) {
      link_.act(now_, sink_.outbox());
    } else {
      driver_.act(cycle());
      follow_up();
    }
  }
}

HostParameters DriverWorld::link_parameters() {
  using namespace literals;
  HostParameters result = defaults<HostParameters>();
  result.link_curve = CurveKind::affine;
  result.link_bandwidth = Bandwidth{4.096e9};
  result.transfer_setup = 0_ns;
  result.link_latency = latency;
  return result;
}

Driver::Setup DriverWorld::driver_setup() {
  const PageManager::Setup setup{options_.frames * page_bytes,
                                 leaving_.size(),
                                 AddressMapping(AddressMapping::Kind::plain, 1),
                                 0,
                                 0,
                                 options_.foreign_pages};
  return {
      1, leaving_.size(),
      options_.make_page_manager
          ? options_.make_page_manager(setup)
          : make_page_manager(policy_written<page_manager_policies>(options_.page_manager), setup),
      Link(LinkId{1}, ComponentId{1}, latency)};
}

ManagedMemory::Setup DriverWorld::managed_setup() {
  ManagedMemory::Setup setup;
  setup.fault_handling =
      options_.fault_handling.empty()
          ? PolicyChoice("host", &schema_of<HostFaultParameters>(),
                         std::make_shared<const HostFaultParameters>(options_.fault))
          : read_parameters<Chosen>(
                parse_document("fault_handling: " + options_.fault_handling, "test"))
                .fault_handling;
  setup.link_latency = latency;
  setup.priorities = {0, 0};
  setup.record_faults = true;
  setup.prefetcher = policy_named(prefetcher_policies(), options_.prefetcher);
  setup.eviction = policy_named(eviction_policies(), options_.eviction);
  return setup;
}

void DriverWorld::take(const MessageHeader& message) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::far_fault:
      return managed_->fault(message, cycle());
    case MessageKind::unmapped:
      driver_.unmapped(message, cycle());
      break;
    case MessageKind::page_copied:
      driver_.page_copied(message.body<PageCopy>(), cycle());
      break;
    case MessageKind::zero_done:
      driver_.zero_done(message.body<ZeroRange>(), cycle());
      break;
    default: {
      const RequestOwner owner = RequestOwner::of(message.body<MemoryResponse>().tag);
      if (owner.part != RequestPart::transfer) {
        driver_.memory_answered(message, cycle());
      } else if (const auto done = link_.take(message)) {
        if (done->owner.part == TransferPart::mapping)
          driver_.transfer_done(*done, cycle());
        else
          managed_->transfer_done(*done, cycle());
      }
    }
  }
  follow_up();
}

void DriverWorld::follow_up() {
  for (bool more = true; more;) {
    more = false;
    for (const std::uint32_t migration : driver_.take_mapped()) {
      managed_->mapped(migration, cycle());
      more = true;
    }
    for (const Unmapped& pages : driver_.take_unmapped()) {
      if (pages.owner.part == UnmappingPart::nobody) {
        give_back(pages);
      } else {
        managed_->unmapped(pages, cycle());
      }
      more = true;
    }
    managed_->act(cycle());
  }
}

/// Device memory that was freed.
void DriverWorld::give_back(const Unmapped& pages) {
  std::vector<FrameRun> frames;
  for (const std::uint64_t entry : pages.entries)
    if (PageTableEntry{entry}.is(PageTableEntry::present))
      append_frame(frames, PhysicalAddress{PageTableEntry{entry}.address()}, page_bytes);
  driver_.give_back(pages.pages.tenant, frames, cycle());
}

TenantPages DriverWorld::add_device_buffer(std::uint64_t bytes) {
  MapRequest request;
  const std::uint64_t count = bytes / page_bytes;
  request.pages = {tenant, driver_.take_addresses(tenant, bytes), count};
  request.reserved = count;
  request.flags = PageTableEntry::writable;
  request.paged = false;
  request.frames = driver_.take_frames(request.pages, false);
  const TenantPages pages = request.pages;
  if (request.frames.empty()) return {tenant, pages.first, 0};
  driver_.map(std::move(request), cycle());
  run();
  return pages;
}

void DriverWorld::deliver() {
  for (const MessageHeader* message : sink_.to(0)) to_partition(*message);
  for (const MessageHeader* message : sink_.to(1)) to_gmmu(*message);
  sink_.clear();
}

void DriverWorld::to_partition(const MessageHeader& message) {
  const Time back = message.arrival + latency;
  if (message.kind == kind_of(MessageKind::zero_range)) {
    const auto& range = message.body<ZeroRange>();
    std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(range.base), range.bytes,
                std::byte{0});
    return arrive(back, MessageKind::zero_done, range);
  }
  if (message.kind == kind_of(MessageKind::copy_page)) {
    const auto& copy = message.body<PageCopy>();
    std::memcpy(&memory_[copy.to], &memory_[copy.from], page_bytes);
    return arrive(back, MessageKind::page_copied, copy);
  }
  const auto& request = message.body<MemoryRequest>();
  std::vector<std::byte> payload;
  const unsigned count = request.sector_count();
  for (unsigned sector = 0, n = 0; sector < 4; ++sector) {
    if (!(request.sectors >> sector & 1)) continue;
    std::byte* place = &memory_[request.line + sector * sector_bytes];
    if (request.operation == MemoryOperation::load) {
      payload.insert(payload.end(), place, place + sector_bytes);
      continue;
    }
    std::uint32_t mask;
    std::memcpy(&mask, message.payload_data() + 4 * n, 4);
    const std::byte* data = message.payload_data() + 4 * count + sector_bytes * n++;
    for (unsigned b = 0; b < sector_bytes; ++b)
      if (mask >> b & 1) place[b] = data[b];
  }
  arrive(back, MessageKind::memory_response, answer_to(request), payload);
}

void DriverWorld::to_gmmu(const MessageHeader& message) {
  const auto sent_ns = (message.arrival - latency).femtoseconds() / 1'000'000;
  if (message.kind == kind_of(MessageKind::pages_mapped)) {
    const auto& body = message.body<PagesMapped>();
    Mapped heard{sent_ns, VirtualPage{body.span.page} - first_page, body.is_large(), {}};
    heard.entries.resize(body.span.count);
    std::memcpy(heard.entries.data(), message.payload_data(), body.span.count * 8);
    if (body.span.count > 0) mapped.push_back(heard);
  } else if (message.kind == kind_of(MessageKind::unmap)) {
    const auto& body = message.body<UnmapRequest>();
    std::vector<std::byte> entries(body.span.count * 8);
    std::memcpy(entries.data(), &memory_[body.entries_at], entries.size());
    std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(body.entries_at), entries.size(),
                std::byte{0});
    for (std::uint32_t i = 0; i < body.span.count; ++i)
      unmapped_pages.push_back(VirtualPage{body.span.page} - first_page + i);
    if (body.large_at != 0) {
      const std::uint64_t at = body.large_at & ~std::uint64_t{1};
      std::uint64_t directory_entry;
      std::memcpy(&directory_entry, &memory_[at], 8);
      directory_entry &= ~PageTableEntry::large;
      std::memcpy(&memory_[at], &directory_entry, 8);
    }
    arrive(message.arrival + latency, MessageKind::unmapped, body.span, entries);
  }
}

}  // namespace lockstep::test
