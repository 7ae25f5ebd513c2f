/// One application's host side: walks its program, keeps its streams and buffers.
///
/// Steps act in order.  Launches, prefetches and copies with a stream go into the stream's queue
/// and the program goes on; only the head of a queue is under way.  A CPU touch of a managed buffer
/// brings its pages home, also beside running kernels, whose faults on it then wait until the CPU
/// is done.  A tenant whose kernel reaches outside of its buffers is ended; the others go on.
/// A tenant is measured when its program ends for the first time, or when blocks that are done have
/// executed its `instructions:`, whichever comes first.  From then on it only keeps up contention:
/// it goes on with its program, with `relaunch` in ever new rounds with fresh buffers, until it is
/// stopped because all have been measured.
/// Source: architecture.md, sections 4 and 8 ("The host", "Tenants").
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/driver/driver.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/driver/managed_memory.hpp"
#include "models/host/host_buffer.hpp"
#include "models/host_link/host_link.hpp"
#include "models/isa/program.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/workload/program_cursor.hpp"
#include "models/workload/scenario.hpp"

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

/// What a tenant is judged by.
struct TenantMeasure {
  InstructionCount executed;
  std::uint64_t far_faults = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(executed, far_faults);
  }
};

/// What the tenants of a host share.
struct HostShared {
  HostLink link;
  Driver driver;
  ManagedMemory managed;
  Link to_dispatcher;
  Time launch_overhead;
  std::uint64_t next_operation = 1;
  HostStatistics statistics;
  std::vector<KernelRecord> kernels;  ///< by grid: the next one gets their number

  template <class Archive>
  void serialize(Archive& archive) {
    archive(link, driver, managed, to_dispatcher, next_operation, statistics, kernels);
  }
  DriverContext context(Time now, Outbox& outbox) {
    return {now, driver, link, statistics, outbox};
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
  void operation_done(std::uint64_t operation);
  /// A kernel of it did what no program may; it is ended.  The first such message is kept.
  void violation(const std::string& message, Time now, HostShared& shared, Outbox& outbox);
  /// What ended it, if it did not end by itself.
  const std::optional<std::string>& failure() const { return failure_; }
  void grid_done(const GridDone& done, Time now, HostShared& shared);
  /// It has executed its `instructions:`.
  void instructions_reached(const InstructionCount& executed, Time now, HostShared& shared);
  /// All tenants have been measured: what it does beyond that ends.
  void stop(Time now, HostShared& shared, Outbox& outbox);

  bool done() const { return phase_ == Phase::done; }
  /// Its program has ended or was cut off, and what it holds on the GPU comes free.
  bool is_leaving() const { return phase_ == Phase::finishing || phase_ == Phase::leaving; }
  /// Nobody has to wait for it: it has been measured, or has failed.
  bool is_settled() const { return measure_ || failure_; }
  const std::optional<TenantMeasure>& measure() const { return measure_; }
  /// How often its program has come to its end.
  std::uint32_t rounds() const { return rounds_; }
  bool is_stopped() const { return stopped_; }
  /// When it was measured, or had failed before.
  Time end() const { return end_; }
  std::string waiting_for() const;

  std::span<std::byte> host_bytes(const Transfer& transfer, std::uint64_t offset,
                                  std::uint64_t bytes);
  /// Buffer for a remote access of the GPU.
  HostBuffer& buffer(std::uint32_t index) { return buffers_[index].host; }
  /// file:line:column of a declared buffer, and what messages call it.
  std::pair<std::string, std::string> describe(std::uint32_t buffer) const {
    return {declaration(buffer).where,
            "buffer " + declaration(buffer).name + " of tenant " + tenant_.name};
  }

  // For checking: what the first round left, by declared buffer.
  bool first_round_over() const { return !first_ || (done() && rounds_ > 0); }
  HostBuffer& left_at_host(std::uint32_t index) { return left(index).host; }
  /// Empty when the GPU had nothing.
  const std::vector<std::byte>& left_at_gpu(std::uint32_t index) { return left(index).captured; }
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
  enum class Phase : std::uint8_t { waiting, mapping, running, finishing, leaving, done };
  struct BufferState {
    HostBuffer host;
    std::uint64_t address = 0;     ///< virtual
    std::uint32_t allocation = 0;  ///< managed: its number there
    bool mapped = false;           ///< the program may use it
    bool held = false;             ///< managed: faults wait for us
    bool is_captured = false;
    std::vector<std::byte> captured;
    void serialize(Archive& archive);
  };
  struct Operation {
    enum class Kind : std::uint8_t { launch, copy, migrate };
    Kind kind = Kind::launch;
    bool started = false;
    bool to_gpu = false;
    std::uint64_t id = 0;
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0, bytes = 0;
    GridLaunch launch;
    std::vector<std::byte> parameters;
    void serialize(Archive& archive);
  };

  using Streams = std::map<std::uint32_t, std::deque<Operation>>;

  std::vector<BufferState> fresh_buffers() const;
  BufferState& left(std::uint32_t buffer) {
    return first_round_.empty() ? buffers_[buffer] : first_round_[buffer];
  }
  void pop(Streams::iterator stream);
  /// False while there is no room for its buffers.
  bool begin(Time now, HostShared& shared, Outbox& outbox);
  bool has_room(Time now, HostShared& shared, Outbox& outbox) const;
  void map_buffer(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox);
  void upload_variables(HostShared& shared);
  bool advance_streams(Time now, HostShared& shared, Outbox& outbox);
  void start(Operation& operation, Time now, HostShared& shared, Outbox& outbox);
  void migrate(const Operation& operation, Time now, HostShared& shared, Outbox& outbox);
  void start_transfer(Transfer::Kind kind, std::uint32_t buffer, std::uint64_t offset,
                      std::uint64_t bytes, std::uint64_t operation, Time now, HostShared& shared,
                      Outbox& outbox);
  void send_launch(Operation& operation, Time now, HostShared& shared, Outbox& outbox);
  /// Throws when a loop goes round and round while no time passes.
  void count_step(const Step& step, Time now);
  bool advance_program(Time now, HostShared& shared, Outbox& outbox);
  /// Does the step; false when it has to wait.
  bool do_step(const Step& step, Time now, HostShared& shared, Outbox& outbox);
  /// The part of its buffer that a step names; false when it is empty.
  bool part(const Step& step, Operation& operation) const;
  void do_copy(const Step& step, HostShared& shared);
  void do_prefetch(const Step& step, HostShared& shared);
  void do_launch(const Step& step, Time now, HostShared& shared);
  void do_fill(const Step& step);
  bool test(const Step& step);
  void do_advise(const Step& step, HostShared& shared);
  /// The CPU is about to touch what the step names; false while managed pages come home.
  bool touch(const Step& step, Time now, HostShared& shared, Outbox& outbox);
  bool release(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox);
  /// Asks for the GPU's copy, for checking.  Nobody waits for it, so that checking changes nothing:
  /// what is done to those frames afterwards reaches the partitions later.
  void capture(std::uint32_t buffer, Time now, HostShared& shared, Outbox& outbox);
  void proceed(Time now, HostShared& shared, Outbox& outbox);
  bool finish(Time now, HostShared& shared, Outbox& outbox);
  void take_measure(const InstructionCount& executed, Time now, const HostShared& shared);
  /// The program ends where it stands.
  void cut_off(Time now, HostShared& shared, Outbox& outbox);
  void start_over(Time now);
  void pause(Time span, Time now) {
    if (span > Time::zero()) timer_ = now + span;
  }
  void require_mapped(std::uint32_t buffer, const std::string& where) const;
  bool streams_idle() const { return streams_.empty(); }
  MemoryKind memory_of(std::uint32_t buffer) const {
    return buffer < tenant_.workload.buffers.size() ? declaration(buffer).memory
                                                    : MemoryKind::device;
  }
  const Buffer& declaration(std::uint32_t buffer) const { return tenant_.workload.buffers[buffer]; }

  const Tenant& tenant_;
  const std::uint16_t index_, module_index_;
  const isa::Module& module_;
  const bool capture_;
  const std::vector<std::shared_ptr<const Content>> contents_;  ///< of declared buffers

  Phase phase_ = Phase::waiting;
  ProgramCursor cursor_;
  std::vector<std::uint32_t> names_;      ///< what each buffer name means now
  std::vector<BufferState> buffers_;      ///< declared ones, then the module's .global variables
  std::vector<BufferState> first_round_;  ///< those of the first round, kept for checking
  bool first_ = true;                     ///< in the first round
  bool stopped_ = false;
  std::uint32_t rounds_ = 0;             ///< ends of the program
  Time began_;                           ///< this round
  Streams streams_;                      ///< by number; empty ones are removed
  std::uint64_t waiting_operation_ = 0;  ///< a blocking copy
  Time timer_;                           ///< never(): none runs
  Time stood_at_;                        ///< simulated time of the last step
  std::uint64_t steps_here_ = 0;         ///< steps done at that time
  InstructionCount executed_;            ///< in grids that are done
  std::optional<TenantMeasure> measure_;
  Time end_ = Time::never();
  std::vector<Saved> saved_;
  std::optional<std::string> failure_;
};

}  // namespace lockstep
