/// A tenant's streams: the head of each queue is under way until the link, the driver or the
/// dispatcher reports its end.  A launch that may overlap with the head is under way, too.
///
/// Simplified: at most one launch of a stream is under way beside the head.
/// Source: architecture.md, section 8, "The host".
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/host/tenant_buffers.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

class TenantStreams {
 public:
  struct Operation {
    enum class Kind : std::uint8_t { launch, copy, migrate, peer_copy };
    Kind kind = Kind::launch;
    bool started = false;
    bool to_gpu = false;
    bool is_programmatic = false;  ///< Step::is_programmatic of a launch
    std::uint64_t id = 0;
    BufferId buffer;
    std::uint64_t offset = 0, bytes = 0;
    BufferId other;  ///< buffer that gets the bytes of a copy between GPUs
    std::uint64_t other_offset = 0;
    GridLaunch launch;
    std::vector<std::byte> parameters;
    std::optional<RecordedData> data;  ///< bytes of a recorded copy
    void serialize(Archive& archive);
  };

  /// Makes the streams.  `compares`: a recorded copy to the host compares its bytes with the
  /// recorded ones.
  TenantStreams(const Tenant& tenant, TenantId id, TenantBuffers& buffers, bool compares,
                TenantServices& services)
      : workload_(tenant.workload),
        tenant_(id),
        compares_(compares),
        buffers_(buffers),
        services_(services) {}

  /// Joins the tenant's buffers on each of its GPUs (`team`).
  void join(std::vector<const TenantBuffers*> team) { team_ = std::move(team); }
  void push(std::uint32_t stream, Operation operation) {
    queues_[stream].push_back(std::move(operation));
  }
  bool idle() const { return queues_.empty(); }
  bool idle(std::uint32_t stream) const { return !queues_.contains(stream); }
  /// Returns whether a copy or a migration is under way.
  bool moves_data() const;
  /// Starts the operations at the heads of their streams.  Returns true if there was one to start.
  bool advance(const HostCycle& cycle);
  /// A copy or a migration has ended.
  void operation_done(std::uint64_t operation);
  void grid_done(GridId grid, const HostCycle& cycle);
  /// Operations that have not begun never will; kernels under way are stopped elsewhere, transfers
  /// end.
  void cut_off();

  /// Returns the number of recorded copies whose results were compared. unexpected(): the first
  /// result that differed.
  std::uint64_t compared() const { return compared_; }
  const std::optional<std::string>& unexpected() const { return unexpected_; }

  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  using Queues = std::map<std::uint32_t, std::deque<Operation>>;

  void start(Operation& operation, const HostCycle& cycle);
  /// Starts a launch that may overlap with the operation before it.  Returns whether there was one.
  bool start_dependent(std::deque<Operation>& stream, const HostCycle& cycle);
  void send_launch(Operation& operation, const HostCycle& cycle);
  void send_peer_copy(const Operation& operation, const HostCycle& cycle) const;
  void compare(const Operation& operation);
  void pop(Queues::iterator stream);

  const Workload& workload_;
  const TenantId tenant_;
  const bool compares_;
  TenantBuffers& buffers_;
  TenantServices& services_;
  std::vector<const TenantBuffers*> team_;
  Queues queues_;  ///< operations of each stream, by its number; empty queues are removed
  std::uint64_t compared_ = 0;
  std::optional<std::string> unexpected_;
};

}  // namespace lockstep
