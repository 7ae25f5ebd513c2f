/// Buffers of a tenant: their room, addresses, content and end, and reads of them for checking.
///
/// Declared buffers come first, then .global variables of the module without a declared buffer.
/// Source: architecture.md, section 8, rules 7, 10 and 11, and "What `--check` means".
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/host/freed_parts.hpp"
#include "models/host/host_buffer.hpp"
#include "models/host/tenant_services.hpp"
#include "models/isa/program.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

class TenantBuffers {
 public:
  /// `capture`: the GPU's final bytes of checked buffers are kept.
  TenantBuffers(const Tenant& tenant, TenantId id, const isa::Module& module, bool capture,
                TenantServices& services);

  /// Joins the buffers of the tenant on all its GPUs (`team`). The first of them has the host's
  /// part.
  void join(std::vector<TenantBuffers*> team) {
    team_ = std::move(team);
    home_ = team_.front();
  }

  /// Returns the number of the GPU.
  std::uint32_t gpu() const { return services_.gpu; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(buffers_.size()); }
  bool is_declared(BufferId buffer) const { return buffer.value() < contents_.size(); }
  const Buffer& declaration(BufferId buffer) const {
    return tenant_.workload.buffers[buffer.value()];
  }
  /// Returns the words of messages for a declared buffer, or for the heap.
  BufferDirectory::Description describe(BufferId buffer) const;
  HostBuffer& host(BufferId buffer) { return home_->at(buffer).host; }
  std::uint32_t allocation(BufferId buffer) const { return buffers_[buffer.value()].allocation; }
  VirtualAddress address(BufferId buffer) const { return buffers_[buffer.value()].address; }

  /// Returns the buffers of the module's variables, by the variables' indices in the module.
  const std::vector<BufferId>& variables() const { return variables_; }
  MemoryKind memory_of(BufferId buffer) const {
    if (is_heap(buffer)) return MemoryKind::managed;
    return is_declared(buffer) ? declaration(buffer).memory : MemoryKind::device;
  }

  // Names of the program, which `swap` exchanges.
  BufferId meaning(std::uint32_t name) const { return BufferId{names_[name]}; }
  void swap(std::uint32_t one, std::uint32_t other) { std::swap(names_[one], names_[other]); }
  /// Returns the addresses of the buffers that the names mean, by name.
  std::vector<std::uint64_t> addresses() const;

  /// Returns the bounds of all existing buffers, sorted by address.
  std::vector<BufferBound> bounds() const;

  /// Returns whether there is room for data that cannot be paged. Throws if there will never be.
  bool has_room(const HostCycle& cycle) const;
  void map_all(const HostCycle& cycle);
  /// Gives a buffer room and an address.
  void map(BufferId buffer, const HostCycle& cycle);
  /// Gives a buffer on another of the tenant's GPUs its address there, and maps it if there is a
  /// link.
  void map_peer(BufferId buffer, const TenantBuffers& owner, const HostCycle& cycle);
  /// Returns the number, among the tenant's GPUs, of the GPU with the buffer in its memory; this
  /// GPU's number if none has it.
  std::uint32_t member_of(BufferId buffer) const {
    const bool is_placed = is_declared(buffer) && declaration(buffer).memory == MemoryKind::device;
    return is_placed ? declaration(buffer).gpu : tenant_.member;
  }
  /// Throws if the program uses a buffer after its end, or bytes after they were freed.
  void require_mapped(BufferId buffer, const std::string& where, std::uint64_t offset = 0,
                      std::uint64_t bytes = 0) const;
  /// Returns the transfer of bytes of `buffer`, which lie in GPU memory, over the link.
  Transfer transfer(Transfer::Kind kind, BufferId buffer, std::uint64_t offset,
                    std::uint64_t bytes) const;
  /// Returns whether the bytes are being moved to other frames, so that no transfer may begin.
  bool is_rearranged(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) const;
  /// Lets the CPU take pages [first, first + pages) of a managed buffer.  Returns false while they
  /// are on their way to the host.
  bool take_home(BufferId buffer, std::uint64_t first, std::uint64_t pages, bool writes,
                 const HostCycle& cycle);
  /// Starts to take a buffer off the GPU.  Returns false while the buffer cannot be taken yet; the
  /// caller tries again.
  bool release(BufferId buffer, const HostCycle& cycle);
  /// Takes the pages off the GPU that lie wholly in a part.
  bool release_part(BufferId buffer, std::uint64_t offset, std::uint64_t bytes,
                    const HostCycle& cycle);
  bool release_all(const HostCycle& cycle);
  bool is_mapped(BufferId buffer) const { return buffers_[buffer.value()].mapped; }
  /// Returns whether some buffer has not been released.
  bool any_mapped() const;

  std::span<std::byte> host_bytes(const Transfer& transfer, std::uint64_t offset,
                                  std::uint64_t bytes);
  /// Keeps the bytes of the first round, if checking asks for them, and starts the buffers anew.
  void start_over();
  /// Ends capturing, because the GPU's bytes are not needed any more.
  void stop_capturing() { is_capturing_ = false; }

  // Bytes that the first round left.
  HostBuffer& left_at_host(BufferId buffer) { return left(buffer).host; }
  /// Returns null when the GPU had nothing, or its bytes were not kept.  Of a managed buffer, pages
  /// that are not touched here were at the host.
  const HostBuffer* left_at_gpu(BufferId buffer) {
    return left(buffer).is_captured ? &left(buffer).captured : nullptr;
  }

  void serialize(Archive& archive);

 private:
  struct State {
    HostBuffer host;
    VirtualAddress address;
    std::uint32_t allocation = 0;  ///< number of the allocation of managed memory
    bool shares = false;           ///< device memory: the buffer is small and shares a page
    std::uint64_t pages = 0;       ///< pages mapped for the buffer, alone or with others
    bool mapped = false;           ///< true: the program may use the buffer
    bool held = false;             ///< managed memory: faults wait for the CPU
    bool is_captured = false;
    bool is_read = false;  ///< the buffer is read for checking where it lies on this GPU
    HostBuffer captured;   ///< bytes read from the GPU; bytes not touched here are 0, or the host's
    FreedParts freed;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(host, address, allocation, mapped, held, is_captured, is_read, captured, freed);
    }
  };

  State& at(BufferId buffer) { return buffers_[buffer.value()]; }
  State& left(BufferId buffer) {
    std::vector<State>& first = home_->first_round_;
    return first.empty() ? home_->at(buffer) : first[buffer.value()];
  }
  bool is_heap(BufferId buffer) const {
    const auto found = std::find(variables_.begin(), variables_.end(), buffer);
    return !is_declared(buffer) &&
           module_.globals[static_cast<std::size_t>(found - variables_.begin())].name ==
               isa::heap_name;
  }
  TenantPages pages_of(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) const;
  std::vector<State> fresh() const;
  [[noreturn]] void fail_for_room(std::uint64_t need, BufferId largest) const;
  /// Returns whether bytes at the host are still initial content that can be computed anywhere.
  bool is_initial(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) const;
  bool lies_here(BufferId buffer) const { return member_of(buffer) == tenant_.member; }
  /// Returns whether kernels here see the buffer.
  bool is_seen(BufferId buffer) const;
  /// Requests the GPU's copy, for checking. No step waits for it, so that checking changes nothing:
  /// later writes to these frames reach the partitions later.
  void capture(BufferId buffer, const HostCycle& cycle);
  bool is_capturing(BufferId buffer) const;
  /// Returns whether the GPU's copy is to be compared.
  bool has_gpu_copy(BufferId buffer) const;
  /// Captures device memory of the buffer within [begin, end), except freed parts.
  void capture_device(BufferId buffer, std::uint64_t begin, std::uint64_t end,
                      const HostCycle& cycle);
  void hold(State& state);
  /// Takes pages off this GPU. Returns false while they are on their way to the host.
  bool take_off(BufferId buffer, std::uint64_t first, std::uint64_t pages, bool writes,
                const HostCycle& cycle);

  const Tenant& tenant_;
  const TenantId id_;
  const isa::Module& module_;
  TenantServices& services_;
  TenantBuffers* home_ = this;
  std::vector<TenantBuffers*> team_{this};
  /// Initial contents of declared buffers.
  const std::vector<std::shared_ptr<const Content>> contents_;
  /// Buffer of each module variable, by its index in the module.
  const std::vector<BufferId> variables_;
  const bool keeps_first_round_;
  bool is_capturing_;
  std::vector<std::uint32_t> names_;  ///< number of the buffer that each name means now
  std::vector<State> buffers_;
  SmallBuffers small_;
  std::vector<State> first_round_;  ///< states after the first round, kept for checking
};

/// Returns whether the buffer is device memory placed by the driver: such buffers may get whole
/// large pages.
inline bool has_device_pages(const TenantBuffers& buffers, BufferId buffer) {
  if (buffers.memory_of(buffer) != MemoryKind::device) return false;
  return !buffers.is_declared(buffer) || !buffers.declaration(buffer).address;
}

}  // namespace lockstep
