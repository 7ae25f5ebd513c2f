/// One application's host side: walks its program, keeps its streams and buffers.
///
/// Steps act in order.  Launches, prefetches and copies with a stream go into the stream's queue
/// and the program goes on; only the head of a queue is under way.  A launch first moves the
/// managed buffers among its arguments to the GPU; a CPU touch of a managed buffer waits for the
/// tenant's streams and moves it back. Source: architecture.md, sections 4 and 8 ("The host").
///
/// Simplified: managed buffers move whole (demand paging replaces this), and the CPU does not touch
/// them while kernels of the tenant run, as CUDA before Pascal demanded.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "models/host/driver.hpp"
#include "models/host/host_buffer.hpp"
#include "models/host/host_link.hpp"
#include "models/host/host_statistics.hpp"
#include "models/host/program_cursor.hpp"
#include "models/host/remote_memory.hpp"
#include "models/host/scenario.hpp"
#include "models/isa/program.hpp"

namespace lockstep {

class Archive;

/// What a finished launch leaves in the /kernels table.
struct KernelRecord {
  std::string kernel;
  std::uint32_t grid = 0, tenant = 0, stream = 0;
  std::array<std::uint32_t, 3> blocks{}, threads{};
  Time enqueued, launched, done;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kernel, grid, tenant, stream, blocks, threads, enqueued, launched, done);
  }
};

/// What the tenants of a host share.
struct HostShared {
  HostLink link;
  Driver driver;
  Link to_dispatcher;
  Time launch_overhead;
  std::uint32_t next_grid = 0;
  std::uint64_t next_operation = 1;
  HostStatistics statistics;
  std::vector<KernelRecord> kernels;  ///< by grid

  template <class Archive>
  void serialize(Archive& archive) {
    archive(link, driver, to_dispatcher, next_grid, next_operation, statistics, kernels);
  }
};

class TenantRun {
 public:
  TenantRun(const Tenant& tenant, std::uint16_t index, std::uint16_t module_index,
            const isa::Module& module, bool capture);

  /// Does everything that can be done at `now`.
  void run(Time now, HostShared& shared, Outbox& outbox);
  /// When it goes on without a message.
  Time wake() const { return timer_; }
  void transfer_done(const Transfer& transfer);
  void grid_done(std::uint32_t grid, Time now, HostShared& shared);

  bool done() const { return phase_ == Phase::done; }
  Time arrival() const { return tenant_.arrival; }
  Time end() const { return end_; }
  std::string waiting_for() const;

  std::span<std::byte> host_bytes(const Transfer& transfer, std::uint64_t offset,
                                  std::uint64_t bytes);
  /// Buffer for a remote access of the GPU.
  HostBuffer& buffer(std::uint32_t index) { return buffers_[index].host; }

  /// For checking, after the end, by declared buffer: GPU bytes (empty when it had none).
  const std::vector<std::byte>& captured(std::uint32_t index) const {
    return buffers_[index].captured;
  }
  struct Saved {
    std::uint32_t buffer = 0;
    std::vector<std::byte> bytes;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(buffer, bytes);
    }
  };
  const std::vector<Saved>& saved() const { return saved_; }

  void serialize(Archive& archive);

 private:
  enum class Phase : std::uint8_t { waiting, running, finishing, done };
  enum class Place : std::uint8_t { host, moving, gpu };
  struct BufferState {
    HostBuffer host;
    Extent extent;
    bool mapped = false;
    Place place = Place::host;  ///< managed: who has the bytes
    std::vector<std::byte> captured;
    void serialize(Archive& archive);
  };
  struct Operation {
    enum class Kind : std::uint8_t { launch, copy, migrate };
    Kind kind = Kind::launch;
    bool started = false;
    bool nothing_to_do = false;  ///< the buffer is there already
    bool to_gpu = false;
    std::uint64_t id = 0;
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0, bytes = 0;
    GridLaunch launch;
    std::vector<std::byte> parameters;
    std::vector<std::uint32_t> managed;  ///< buffers a launch needs on the GPU
    void serialize(Archive& archive);
  };

  using Streams = std::map<std::uint32_t, std::deque<Operation>>;

  void operation_done(std::uint64_t operation);
  void pop(Streams::iterator stream);
  void begin(HostShared& shared);
  bool advance_streams(Time now, HostShared& shared, Outbox& outbox);
  /// A kernel under way was launched with the buffer among its arguments.
  bool in_use(std::uint32_t buffer) const;
  bool start(Operation& operation, Time now, HostShared& shared, Outbox& outbox);
  void start_transfer(Transfer::Kind kind, std::uint32_t buffer, std::uint64_t offset,
                      std::uint64_t bytes, std::uint64_t operation, Time now, HostShared& shared,
                      Outbox& outbox);
  void move(std::uint32_t buffer, bool to_gpu, Time now, HostShared& shared, Outbox& outbox);
  void send_launch(Operation& operation, Time now, HostShared& shared, Outbox& outbox);
  /// Throws when a loop goes round and round while no time passes.
  void count_step(const Step& step, Time now);
  bool advance_program(Time now, HostShared& shared, Outbox& outbox);
  /// Does the step; false when it has to wait.
  bool do_step(const Step& step, Time now, HostShared& shared, Outbox& outbox);
  bool do_copy(const Step& step, HostShared& shared);
  void do_launch(const Step& step, Time now, HostShared& shared);
  void do_fill(const Step& step);
  bool test(const Step& step);
  bool touch(std::uint32_t buffer, const Step& step, Time now, HostShared& shared, Outbox& outbox);
  bool release(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox);
  /// Reads the GPU's copy for checking; false while it is under way.
  bool capture(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox);
  bool finish(Time now, HostShared& shared, Outbox& outbox);
  void pause(Time span, Time now) {
    if (span > Time::zero()) timer_ = now + span;
  }
  void require_mapped(std::uint32_t buffer, const std::string& where) const;
  bool streams_idle() const { return streams_.empty(); }
  const Buffer& declaration(std::uint32_t buffer) const { return tenant_.workload.buffers[buffer]; }

  const Tenant& tenant_;
  const std::uint16_t index_, module_index_;
  const isa::Module& module_;
  const bool capture_;

  Phase phase_ = Phase::waiting;
  ProgramCursor cursor_;
  std::vector<std::uint32_t> names_;     ///< what each buffer name means now
  std::vector<BufferState> buffers_;     ///< declared ones, then the module's .global variables
  Streams streams_;                      ///< by number; empty ones are removed
  std::uint64_t waiting_operation_ = 0;  ///< a blocking copy
  std::uint64_t waiting_capture_ = 0;
  Time timer_;                    ///< never(): none runs
  Time stood_at_;                 ///< simulated time of the last step
  std::uint64_t steps_here_ = 0;  ///< steps done at that time
  Time end_ = Time::never();
  std::vector<Saved> saved_;
};

}  // namespace lockstep
