#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/host/managed_memory.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

/// The driver and its managed memory against one partition and a GMMU that do what they are told:
/// every answer arrives 1 us after its question was sent.  The host link carries a 4 KiB page in
/// 1 us and 64 KiB in 16 us.
class DriverWorld {
 public:
  static constexpr std::uint64_t first_page = isa::first_global_address / page_bytes;
  static constexpr std::uint32_t buffer = 3;

  struct Options {
    HostFaultParameters fault = defaults<HostFaultParameters>();
    std::string prefetcher = "none", eviction = "lru", page_manager = "base-pages";
    std::uint64_t frames = 1000;            ///< of GPU memory
    std::uint64_t bytes = 64 * page_bytes;  ///< of the one buffer
  };
  /// What the GMMU heard.
  struct Mapped {
    std::int64_t ns = 0;     ///< when it was sent
    std::uint64_t page = 0;  ///< in the buffer
    std::vector<PageTableEntry> entries;
  };

  explicit DriverWorld(Options options)
      : options_(options),
        memory_((options.frames + 1) * page_bytes),
        host_memory_(options.bytes),
        has_data_((options.bytes + page_bytes - 1) / page_bytes, true),
        sink_(2),
        link_(
            link_parameters(), AddressMapping(AddressMapping::Kind::plain, 1),
            {Link(LinkId{0}, ComponentId{0}, latency)},
            [this](const Transfer&, std::uint64_t offset, std::uint64_t bytes) {
              return std::span(host_memory_).subspan(offset, bytes);
            },
            1),
        driver_({options.frames * page_bytes, 1, 1,
                 make_page_manager(choice(page_manager_policies(), options.page_manager)),
                 Link(LinkId{1}, ComponentId{1}, latency)}),
        managed_(managed_setup()) {
    set_tenants(statistics_, 1);
    for (std::size_t i = 0; i < host_memory_.size(); ++i)
      host_memory_[i] = static_cast<std::byte>(i / 7 + 1);
    MapRequest tables;
    tables.page = driver_.take_addresses(0, options.bytes);
    tables.reserved = driver_.mapped_pages(options.bytes);
    allocation_ = managed_.add(0, buffer, tables.page, pages());
    driver_.map(std::move(tables), now_, link_, sink_.outbox());
    run();
    mapped.clear();
  }

  std::uint64_t pages() const { return has_data_.size(); }
  std::uint32_t allocation() const { return allocation_; }
  ManagedMemory& managed() { return managed_; }
  Driver& driver() { return driver_; }
  const HostStatistics& statistics() const { return statistics_; }
  Time now() const { return now_; }
  void untouched(std::uint64_t page) { has_data_[page] = false; }

  /// Faults of pages of the buffer, found by the GMMU `ns` after now and all in one cycle.
  void fault(std::vector<std::uint64_t> faults, std::int64_t ns = 0, bool permission = false) {
    const Time found = now_ + Time{ns * 1'000'000};
    for (const std::uint64_t page : faults) {
      FarFault body;
      body.page = first_page + page;
      body.permission = permission;
      body.found = found;
      arrive(found + latency, MessageKind::far_fault, body);
    }
  }
  /// A store of the GPU: sets a byte in its memory and the dirty bit.
  void store(std::uint64_t page, std::byte value) {
    const std::uint64_t at = driver_.tables().entry_address(0, first_page + page);
    std::uint64_t entry;
    std::memcpy(&entry, &memory_[at], 8);
    ASSERT_TRUE(entry & PageTableEntry::present);
    entry |= PageTableEntry::dirty;
    std::memcpy(&memory_[at], &entry, 8);
    memory_[PageTableEntry{entry}.address()] = value;
  }
  std::byte gpu_byte(std::uint64_t page) const {
    return memory_[driver_.tables().entry(0, first_page + page).address()];
  }
  std::byte host_byte(std::uint64_t page) const { return host_memory_[page * page_bytes]; }
  bool on_gpu(std::uint64_t page) const {
    return driver_.tables().entry(0, first_page + page).is(PageTableEntry::present);
  }

  DriverContext context() { return {now_, driver_, link_, statistics_, sink_.outbox()}; }
  /// Everything that happens by itself.
  void run(Time until = Time::never()) {
    for (;;) {
      deliver();
      const Time arrival = answers_.empty() ? Time::never() : answers_.begin()->first;
      const Time activity =
          std::min({link_.next_activity(), driver_.next_activity(), managed_.next_activity()});
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
        driver_.act(now_, sink_.outbox());
        follow_up();
      }
    }
  }

  std::vector<Mapped> mapped;
  std::vector<std::uint64_t> unmapped_pages;

 private:
  static constexpr Time latency = Time{500'000'000};

  static HostParameters link_parameters() {
    using namespace literals;
    HostParameters result = defaults<HostParameters>();
    result.link_curve = CurveKind::affine;
    result.link_bandwidth = Bandwidth{4.096e9};
    result.transfer_setup = 0_ns;
    result.link_latency = latency;
    return result;
  }
  static PolicyChoice choice(const PolicyList& list, const std::string& name) {
    for (const PolicyInfo& info : list)
      if (info.name == name) return PolicyChoice(info);
    ADD_FAILURE() << "no policy " << name;
    return {};
  }
  ManagedMemory::Setup managed_setup() {
    ManagedMemory::Setup setup;
    setup.fault = options_.fault;
    setup.link_latency = latency;
    setup.tenants = 1;
    setup.record_faults = true;
    setup.prefetcher = make_prefetcher(choice(prefetcher_policies(), options_.prefetcher));
    setup.eviction = make_eviction(choice(eviction_policies(), options_.eviction));
    setup.has_data = [this](std::uint16_t, std::uint32_t, std::uint64_t page) {
      return bool{has_data_[page]};
    };
    setup.describe = [](std::uint16_t, std::uint32_t) {
      return std::pair<std::string, std::string>("w.yaml:1:1", "buffer data of tenant one");
    };
    setup.buffer_bytes = [this](std::uint16_t, std::uint32_t) { return options_.bytes; };
    setup.remote_address = [](std::uint16_t, std::uint32_t) { return std::uint64_t{1} << 50; };
    return setup;
  }

  template <class Body>
  void arrive(Time when, MessageKind kind, const Body& body,
              std::span<const std::byte> payload = {}) {
    auto message = std::make_shared<IncomingMessage>(when, kind_of(kind), body, payload);
    answers_.emplace(when, [this, message] { take(*message->get()); });
  }
  void take(const MessageHeader& message) {
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::far_fault:
        return managed_.fault(message, context());
      case MessageKind::unmapped:
        driver_.unmapped(message);
        break;
      case MessageKind::zero_done:
        driver_.zero_done(message.body<ZeroRange>(), now_, link_, sink_.outbox());
        break;
      default: {
        const std::uint32_t tag = message.body<MemoryResponse>().tag;
        if (!HostLink::owns(tag)) {
          driver_.write_done(tag, now_, link_, sink_.outbox());
        } else if (const auto done = link_.take(message)) {
          if (done->operation & Driver::mapping_operation)
            driver_.transfer_done(*done, now_, link_, sink_.outbox());
          else
            managed_.transfer_done(*done, context());
        }
      }
    }
    follow_up();
  }
  void follow_up() {
    for (bool more = true; more;) {
      more = false;
      for (const std::uint32_t migration : driver_.take_mapped()) {
        managed_.mapped(migration, context());
        more = true;
      }
      for (Unmapped& pages : driver_.take_unmapped()) {
        managed_.unmapped(std::move(pages), context());
        more = true;
      }
      managed_.act(context());
    }
  }
  /// What was sent reaches partition and GMMU, which answer.
  void deliver() {
    for (const MessageHeader* message : sink_.to(0)) to_partition(*message);
    for (const MessageHeader* message : sink_.to(1)) to_gmmu(*message);
    sink_.clear();
  }
  void to_partition(const MessageHeader& message) {
    const Time back = message.arrival + latency;
    if (message.kind == kind_of(MessageKind::zero_range)) {
      const auto& range = message.body<ZeroRange>();
      std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(range.base), range.bytes,
                  std::byte{0});
      return arrive(back, MessageKind::zero_done, range);
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
  void to_gmmu(const MessageHeader& message) {
    const auto sent_ns = (message.arrival - latency).femtoseconds() / 1'000'000;
    if (message.kind == kind_of(MessageKind::pages_mapped)) {
      const auto& body = message.body<PagesMapped>();
      Mapped heard{sent_ns, body.span.page - first_page, {}};
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
        unmapped_pages.push_back(body.span.page - first_page + i);
      arrive(message.arrival + latency, MessageKind::unmapped, body.span, entries);
    }
  }

  const Options options_;
  Time now_;
  std::vector<std::byte> memory_, host_memory_;
  std::vector<bool> has_data_;
  MessageSink sink_;
  HostLink link_;
  Driver driver_;
  ManagedMemory managed_;
  HostStatistics statistics_;
  std::uint32_t allocation_ = 0;
  std::multimap<Time, std::function<void()>> answers_;
};

}  // namespace lockstep::test
