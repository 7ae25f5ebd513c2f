#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/driver/managed/managed_memory.hpp"
#include "models/host_link/host_link.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::test {

/// The driver and its managed memory against one partition and a GMMU that do what they are told:
/// every answer arrives 1 us after its question was sent.  The host link carries a 4 KiB page in
/// 1 us and 64 KiB in 16 us.
class DriverWorld : private BufferDirectory {
 public:
  static constexpr VirtualPage first_page{isa::first_global_address / page_bytes};
  static constexpr TenantId tenant{0};
  static constexpr BufferId buffer{3};

  struct Options {
    Options();  ///< not inline: the schema that tells the defaults is long code

    HostFaultParameters fault;   ///< of the host's handling, unless another is named
    std::string fault_handling;  ///< as in a scenario
    std::string prefetcher = "none", eviction = "lru", page_manager = "base-pages";
    std::uint64_t frames = 1000;            ///< of GPU memory
    std::uint64_t bytes = 64 * page_bytes;  ///< of the one buffer
    std::vector<Frame> foreign_pages = {};
    /// Makes a page manager that is not registered.
    std::function<std::unique_ptr<PageManager>(const PageManager::Setup&)> make_page_manager;
  };
  /// What the GMMU heard.
  struct Mapped {
    std::int64_t ns = 0;     ///< when it was sent
    std::uint64_t page = 0;  ///< in the buffer
    bool large = false;
    std::vector<PageTableEntry> entries;
  };

  explicit DriverWorld(const Options& options);
  ~DriverWorld() override;

  std::uint64_t pages() const { return has_data_.size(); }
  std::uint32_t allocation() const { return allocation_; }
  ManagedMemory& managed() { return *managed_; }
  /// Goes on with fresh managed memory that was given the state of the present one.
  void save_and_restore_managed();
  Driver& driver() { return driver_; }
  const HostStatistics& statistics() const { return statistics_; }
  Time now() const { return now_; }
  void untouched(std::uint64_t page) { has_data_[page] = false; }
  /// Tenant 0 has the buffer, tenant 1 nothing that is managed.
  void leaves(std::uint16_t number, bool leaving = true) { leaving_[number] = leaving; }

  /// Faults of pages of the buffer, found by the GMMU `ns` after now and all in one cycle.
  void fault(std::vector<std::uint64_t> faults, std::int64_t ns = 0, bool permission = false);
  /// A store of the GPU: sets a byte in its memory and the dirty bit.
  void store(std::uint64_t page, std::byte value);
  /// Tenant 0 gets more memory, which is never paged; no pages if there is no room.
  TenantPages add_device_buffer(std::uint64_t bytes);
  /// A walk of the GPU: sets the accessed bit.
  void use(std::uint64_t page) { set_bits(page, PageTableEntry::accessed); }
  /// The first byte of a page, or the one at `offset`.
  std::byte gpu_byte(std::uint64_t page, std::uint64_t offset = 0) const {
    return memory_[entry(page).address() + offset];
  }
  std::byte host_byte(std::uint64_t page, std::uint64_t offset = 0) const {
    return host_memory_[page * page_bytes + offset];
  }
  std::uint64_t memory_word(PhysicalAddress address) const {
    std::uint64_t word;
    std::memcpy(&word, &memory_[address.value()], sizeof word);
    return word;
  }
  /// All foreign pages, by their numbers, wherever they are now.
  std::vector<std::byte> foreign_bytes() const;
  bool on_gpu(std::uint64_t page) const { return entry(page).is(PageTableEntry::present); }
  PageTableEntry entry(std::uint64_t page) const {
    return driver_.tables().entry(tenant, first_page + page);
  }

  HostCycle cycle() { return {now_, link_, statistics_, sink_.outbox()}; }
  /// Everything that happens by itself.
  void run(Time until = Time::never());

  std::vector<Mapped> mapped;
  std::vector<std::uint64_t> unmapped_pages;

 private:
  static constexpr Time latency = Time{500'000'000};

  static HostParameters link_parameters();
  Driver::Setup driver_setup();
  ManagedMemory::Setup managed_setup();

  bool has_data(TenantId, BufferId, std::uint64_t page) const override { return has_data_[page]; }
  std::uint64_t bytes(TenantId, BufferId) const override { return options_.bytes; }
  Description describe(TenantId, BufferId) const override {
    return {"w.yaml:1:1", "buffer data of tenant one"};
  }
  std::uint64_t remote_address(TenantId, BufferId) const override { return std::uint64_t{1} << 50; }
  bool is_leaving(TenantId leaver) const override { return leaving_[leaver.value()]; }

  template <class Body>
  void arrive(Time when, MessageKind kind, const Body& body,
              std::span<const std::byte> payload = {});
  void set_bits(std::uint64_t page, std::uint64_t bits);
  void take(const MessageHeader& message);
  void follow_up();
  void give_back(const Unmapped& pages);
  /// What was sent reaches partition and GMMU, which answer.
  void deliver();
  void to_partition(const MessageHeader& message);
  void to_gmmu(const MessageHeader& message);

  const Options options_;
  Time now_;
  std::vector<std::byte> memory_, host_memory_;
  std::vector<bool> has_data_;
  std::array<bool, 2> leaving_{};
  MessageSink sink_;
  HostLink link_;
  Driver driver_;
  std::unique_ptr<ManagedMemory> managed_;
  HostStatistics statistics_;
  std::uint32_t allocation_ = 0;
  std::multimap<Time, std::function<void()>> answers_;
};

}  // namespace lockstep::test
