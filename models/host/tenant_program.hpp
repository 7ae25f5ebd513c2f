/// Steps of a host program, executed one after the other.
///
/// Launches, prefetches and copies with a stream go into the stream's queue and the program goes
/// on.  A CPU touch of a managed buffer brings its pages to the host, even while kernels run; their
/// faults on the buffer wait until the CPU is done.
/// Source: architecture.md, sections 4 and 8 ("The host").
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/host/tenant_streams.hpp"
#include "models/isa/encode/idempotence.hpp"
#include "models/workload/program_cursor.hpp"

namespace lockstep {

class TenantProgram {
 public:
  /// Content of a buffer that the program has saved.
  struct Saved {
    std::uint32_t buffer = 0;  ///< name of the buffer
    std::vector<std::byte> bytes;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(buffer, bytes);
    }
  };

  TenantProgram(const Tenant& tenant, TenantId id, std::uint16_t module_index,
                const isa::Module& module, TenantBuffers& buffers, TenantStreams& streams,
                TenantServices& services);

  /// A tenant on one of its GPUs.
  struct Member {
    TenantBuffers* buffers = nullptr;
    TenantStreams* streams = nullptr;
    TenantServices* services = nullptr;
    TenantId number = {};      ///< number of the tenant on that GPU
    std::uint16_t module = 0;  ///< number of the module on that GPU
  };
  /// Joins the members of the tenant on all its GPUs (`team`), this one first.
  void join(std::vector<Member> team) { team_ = std::move(team); }

  /// Returns when the program goes on without a message.
  Time wake() const { return timer_; }
  /// Ends the timer if it has run out.
  void look_at_timer(Time now) {
    if (timer_ <= now) timer_ = Time::never();
  }
  /// Queues the upload of the variables' initial content.
  void upload_variables();
  /// Executes a step if the program can go on.  Returns whether it has executed one.
  bool advance(const HostCycle& cycle);
  /// Returns whether the program and all work that it queued have ended.
  bool is_over() const { return !waits() && cursor_.current() == nullptr && all_idle(); }
  /// `member`: number of the GPU, among the tenant's GPUs.
  void operation_done(std::uint64_t operation, std::uint32_t member) {
    if (waiting_operation_ == operation && waiting_member_ == member) waiting_operation_ = none;
  }
  /// Returns whether nothing is queued on any of the tenant's GPUs.
  bool all_idle() const;
  /// The program ends where it stands.
  void cut_off();
  /// Starts the program again at `when`.  Content that it saves from now on is not kept.
  void start_over(Time when);

  /// Returns whether a step has ended since the last call, or will when a transfer or a delay has.
  /// A loop that looks again and again at unchanged data is no progress: see `polls_`.
  bool take_steps(bool transfers);
  /// Notes that the tenant got on somewhere else.
  void got_on() { polls_ = 0; }

  const std::vector<Saved>& saved() const { return saved_; }
  /// Returns the place of the step at which the program stands.
  std::string where() const { return cursor_.current() ? cursor_.current()->where : ""; }
  void serialize(Archive& archive);

 private:
  using Operation = TenantStreams::Operation;
  static constexpr std::uint64_t none = 0;

  static constexpr std::uint32_t most_polls = 16;

  /// Queues an operation for one of the tenant's GPUs.  Returns the operation's number there.
  std::uint64_t push(std::uint32_t member, std::uint32_t stream, Operation operation);
  /// Queues a copy on the GPU that has the buffer.  The program waits for it unless the step names
  /// a stream.
  void move(const Step& step, Operation operation);
  bool is_idle(std::uint32_t stream) const;
  bool peer_copy(const Step& step);
  bool waits() const { return timer_ != Time::never() || waiting_operation_ != none; }
  /// Throws when a loop goes round and round while no time passes.
  void count_step(const Step& step, Time now);
  /// Returns false if the step has to wait.
  bool visit(const Step& step, const HostCycle& cycle);

  // Functions that begin a step, one for each kind of step.
  bool copy(const Step& step);
  bool prefetch(const Step& step);
  bool launch(const Step& step, Time now);
  std::vector<std::uint32_t> buffers_of_packed(std::span<const std::byte> packed) const;
  /// Finds the parameters through which the launch overwrites data that it reads, or through which
  /// other parties see each store.
  void find_overwrites(const Step& step, std::uint32_t kernel,
                       std::span<const std::byte> parameters, GridLaunch& launch);
  bool write(const Step& step, const HostCycle& cycle);
  bool fill(const Step& step, const HostCycle& cycle);
  bool save(const Step& step, const HostCycle& cycle);
  bool advise(const Step& step, const HostCycle& cycle);
  bool delay(const Step& step, Time now);
  bool release(const Step& step, const HostCycle& cycle);
  /// Takes a buffer off all GPUs of the tenant.  Returns true when that needs nothing more.
  bool release_everywhere(BufferId buffer, const HostCycle& cycle);

  /// Prepares the step's buffers for a touch by the CPU. Returns false while managed pages are on
  /// their way to the host.
  bool touch(const Step& step, const HostCycle& cycle);
  /// Returns whether a loop ends that waits until an element has a value.
  bool test(const Step& step);
  /// Returns the index of the element that a loop looks at.
  std::uint64_t index_of(const Step& step) const;
  /// Finds the part of the buffer that a step names.  Returns false if the part is empty.
  bool part(const Step& step, Operation& operation) const;
  void pause(Time span, Time now) {
    if (span > Time::zero()) timer_ = now + span;
  }

  const Tenant& tenant_;
  const TenantId id_;
  const isa::Module& module_;
  TenantBuffers& buffers_;
  TenantStreams& streams_;
  TenantServices& services_;
  std::vector<Member> team_;

  ProgramCursor cursor_;
  Time timer_;                              ///< time at which the timer ends; never(): none runs
  std::uint64_t waiting_operation_ = none;  ///< blocking copy for which the program waits
  std::uint32_t waiting_member_ = 0;        ///< GPU on which that copy runs
  Time stood_at_;                           ///< simulated time of the last step
  std::uint64_t steps_here_ = 0;            ///< steps done at that time
  std::uint64_t steps_ended_ = 0, steps_told_ = 0;
  /// Rounds of loops that wait for a value, since the tenant last got on.
  std::uint32_t polls_ = 0;
  bool keeps_saved_ = true;
  /// Use of global memory by each kernel that has been launched.
  std::map<std::uint32_t, isa::GlobalUse> global_uses_;
  std::vector<Saved> saved_;
};

}  // namespace lockstep
