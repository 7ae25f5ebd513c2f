/// Windows on oneTBB's threads.
///
/// Every thread owns a share of the tasks and keeps it from window to window, so that its cache
/// keeps their state.  A window is a round: the calling thread opens it by raising a number, every
/// thread opens its own share, takes tasks from it in chunks that get smaller, and then helps at
/// the tail of others.  Nobody waits for a thread that has not come (this computer may be busy,
/// or have fewer cores than threads): a share that is not open yet is opened by whoever finds it.
///
/// Helpers are long-lived oneTBB tasks that spin, then yield, then sleep between rounds, because a
/// parallel loop costs microseconds and windows may be that short.
///
/// A window whose work, judged by the last ones, is not worth sharing runs on the calling thread
/// alone.  None of this can be seen in the results: tasks of a window are independent.
#include <immintrin.h>
// Before oneTBB 2021.6 (Ubuntu 22.04) task_group::defer was an extension.
#define TBB_PREVIEW_TASK_GROUP_EXTENSIONS 1
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/exec/executor.hpp"
#include "core/exec/tick_clock.hpp"
#include "core/memory/cache_aligned.hpp"
#include "core/memory/warm.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t quit_bit = 1u << 31;
/// Number of pauses between two looks at the shares of others: every look delays their next step.
constexpr std::uint32_t steal_interval = 8;
/// Bounds, in microseconds, of the work from which on a window is shared: between them what a round
/// costs on this computer's cores decides.
constexpr double least_shared = 3, most_alone = 9;

/// The rest of a share that no thread has taken yet, in one word: round, tasks, first task not
/// taken.
struct Remainder {
  static constexpr std::uint64_t field = (1u << 20) - 1;
  static std::uint64_t pack(std::uint32_t round, std::uint32_t tasks, std::uint32_t taken) {
    return (static_cast<std::uint64_t>(round) << 40) | (static_cast<std::uint64_t>(tasks) << 20) |
           taken;
  }
  explicit Remainder(std::uint64_t word)
      : round(static_cast<std::uint32_t>(word >> 40)),
        tasks(static_cast<std::uint32_t>((word >> 20) & field)),
        taken(static_cast<std::uint32_t>(word & field)) {}
  static std::uint32_t tag(std::uint32_t round) { return round & 0xffffff; }
  std::uint32_t round, tasks, taken;
};

struct alignas(sharing_bytes) TaskShare {
  std::atomic<std::uint64_t> remainder{0};
  std::atomic<std::uint32_t> opened{0};  ///< last round in which a thread began to open `tasks`
  std::atomic<std::uint32_t> opener{0};
};

/// A number together with its round, in one word: the number of another round counts as none.
class RoundNumber {
 public:
  /// Stores the number of a round; only one thread writes it.
  void store(std::uint32_t round, std::uint32_t number) {
    word_.store(static_cast<std::uint64_t>(round) << 32 | number, std::memory_order_release);
  }
  std::uint32_t of(std::uint32_t round) const {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    return word >> 32 == round ? static_cast<std::uint32_t>(word) : 0;
  }

 private:
  std::atomic<std::uint64_t> word_{0};
};

/// Progress of a thread in a round: all state that the calling thread waits for, on one cache line.
struct alignas(sharing_bytes) Progress {
  RoundNumber shares;  ///< shares that the thread opened
  RoundNumber tasks;   ///< tasks that the thread opened in these shares
  RoundNumber completed;
  // Time in the last round in which the thread ran tasks; `completed` publishes it.
  std::uint64_t working = 0;
  std::uint64_t last_arrival = 0;

  bool took_part(std::uint32_t round) const { return completed.of(round) > 0; }
};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(std::uint32_t threads)
      : threads_(threads),
        limit_(oneapi::tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads), 1),
        shares_(threads),
        progress_(threads),
        ticks_per_microsecond_(measure_ticks_per_nanosecond() * 1000),
        crowded_(threads > std::thread::hardware_concurrency()) {}
  ~ThreadExecutor() noexcept override { end(); }

  std::uint32_t threads() const override { return threads_; }
  ExecutorTimes times() const override { return times_; }

  void begin() override {
    if (running_) return;
    running_ = true;
    signal_.store(round_, std::memory_order_release);
    for (std::uint32_t thread = 1; thread < threads_; ++thread) {
      arena_.enqueue(group_.defer([this, thread, seen = round_] { help(thread, seen); }));
    }
  }

  void end() override {
    if (!running_) return;
    running_ = false;
    signal_.store(round_ | quit_bit);
    signal_.notify_all();
    arena_.execute([this] { group_.wait(); });
    left_.load(std::memory_order_acquire);
  }

  void run_window(WindowTasks& of_window, std::uint64_t number) override {
    if (running_ && worth_sharing_) {
      run_together(of_window, number);
    } else {
      run_alone(of_window);
    }
  }

 private:
  void run_alone(WindowTasks& of_window) {
    const std::uint64_t begin = ticks();
    std::uint32_t count = 0;
    for (std::uint32_t share = 0; share < threads_; ++share) {
      const std::uint32_t opened = of_window.open(share, 0);
      of_window.run(share, 0, opened, 0);
      count += opened;
    }
    const double elapsed = static_cast<double>(ticks() - begin);
    times_.working += elapsed / threads_;
    times_.waiting += elapsed * (threads_ - 1) / threads_;
    remember(elapsed, count);
  }

  void run_together(WindowTasks& of_window, std::uint64_t number) {
    const std::uint64_t begin = ticks();
    warm_to_write(&shares_[0]);
    tasks_.store(&of_window, std::memory_order_relaxed);
    number_.store(number, std::memory_order_relaxed);
    task_ticks_.store(learned_task_ticks_, std::memory_order_relaxed);
    round_ = (round_ + 1) & ~quit_bit;
    signal_.store(round_, std::memory_order_release);
    open_share(0, 0, round_);
    // A thread that falls asleep is counted before this read, or sees the round when it checks.
    if (sleepers_.fetch_add(0) > 0) signal_.notify_all();
    take_part(0, round_);
    of_window.fetch_outcome();
    for (std::uint32_t idle = 0; !complete(); ++idle) {
      if (idle % steal_interval == steal_interval - 1) take_part(0, round_);
      relax(idle);
    }
    account(begin, ticks());
  }

  // The function is not inlined, so that reads of captured variables stay in the task, where
  // tests/tsan.supp knows them.
  [[gnu::noinline]] void help(std::uint32_t thread, std::uint32_t seen) {
    for (;;) {
      const std::uint32_t signal = await_signal(seen);
      if (signal & quit_bit) {
        left_.fetch_add(1, std::memory_order_release);
        return;
      }
      seen = signal;
      warm_to_write(&shares_[thread]);
      tasks().fetch(thread, number_.load(std::memory_order_relaxed));
      for (std::uint32_t idle = 0; !take_part(thread, seen) && !over(seen); ++idle) relax(idle);
    }
  }

  std::uint32_t await_signal(std::uint32_t seen) {
    // Acquire: everything that begin() and run_together() wrote is visible behind this load.
    if (const std::uint32_t signal = signal_.load(std::memory_order_acquire); signal != seen) {
      return signal;
    }
    const std::uint32_t spins = crowded_ ? 0 : 4000;
    for (std::uint32_t i = 0; i < spins + 50; ++i) {
      const std::uint32_t signal = signal_.load(std::memory_order_acquire);
      if (signal != seen) return signal;
      if (i < spins) {
        _mm_pause();
      } else {
        std::this_thread::yield();
      }
    }
    sleepers_.fetch_add(1);
    signal_.wait(seen);
    sleepers_.fetch_sub(1);
    return signal_.load();
  }

  WindowTasks& tasks() const { return *tasks_.load(std::memory_order_relaxed); }

  /// Returns whether the next round has begun.  The function first pauses for a while without
  /// disturbing other threads.
  bool over(std::uint32_t round) const {
    for (std::uint32_t i = 0; i < steal_interval && !crowded_; ++i) {
      if (signal_.load(std::memory_order_acquire) != round) return true;
      _mm_pause();
    }
    return signal_.load(std::memory_order_acquire) != round;
  }

  void relax(std::uint32_t idle) const {
    if (idle < (crowded_ ? 50u : 2000u)) {
      _mm_pause();
    } else {
      std::this_thread::yield();
    }
  }

  /// Runs remaining tasks. Returns true when none is left that this thread would take.
  bool take_part(std::uint32_t thread, std::uint32_t round) {
    bool exhausted = true;
    for (std::uint32_t step = 0; step < threads_; ++step) {
      const std::uint32_t index = (thread + step) % threads_;
      open_share(index, thread, round);
      while (take_chunk(index, thread, round)) {
      }
      const Remainder left(shares_[index].remainder.load(std::memory_order_relaxed));
      exhausted &= left.round == Remainder::tag(round) && !worth_taking(left, index, thread);
    }
    return exhausted;
  }

  /// Opens a share for one thread, unless a thread has already opened it.
  void open_share(std::uint32_t index, std::uint32_t thread, std::uint32_t round) {
    TaskShare& share = shares_[index];
    std::uint32_t previous = (round - 1) & ~quit_bit;
    if (share.opened.load(std::memory_order_relaxed) != previous ||
        !share.opened.compare_exchange_strong(previous, round, std::memory_order_acq_rel))
      return;
    const std::uint32_t count = tasks().open(index, thread);
    Progress& progress = progress_[thread];
    progress.tasks.store(round, progress.tasks.of(round) + count);
    progress.shares.store(round, progress.shares.of(round) + 1);
    share.opener.store(thread, std::memory_order_relaxed);
    share.remainder.store(Remainder::pack(Remainder::tag(round), count, 0),
                          std::memory_order_release);
  }

  double cost(std::uint32_t tasks) const {
    return tasks * task_ticks_.load(std::memory_order_relaxed);
  }
  bool owns(std::uint32_t index, std::uint32_t thread) const {
    return thread == index || thread == shares_[index].opener.load(std::memory_order_relaxed);
  }
  /// Returns whether helping is worthwhile: moving little work to another cache costs more than it
  /// gains.
  bool worth_taking(const Remainder& left, std::uint32_t index, std::uint32_t thread) const {
    const std::uint32_t remaining = left.tasks - left.taken;
    return remaining > 0 && (owns(index, thread) || cost(remaining) >= ticks_per_microsecond_);
  }

  bool take_chunk(std::uint32_t index, std::uint32_t thread, std::uint32_t round) {
    TaskShare& share = shares_[index];
    std::uint64_t word = share.remainder.load(std::memory_order_acquire);
    for (;;) {
      const Remainder left(word);
      if (left.round != Remainder::tag(round) || !worth_taking(left, index, thread)) return false;
      const std::uint32_t remaining = left.tasks - left.taken;
      const bool own = owns(index, thread);
      const std::uint32_t chunk = own && cost(remaining) < ticks_per_microsecond_
                                      ? remaining
                                      : std::max(1u, remaining * 2 / ((own ? 3 : 4) * threads_));
      if (share.remainder.compare_exchange_weak(
              word, Remainder::pack(left.round, left.tasks, left.taken + chunk),
              std::memory_order_acq_rel, std::memory_order_acquire)) {
        run_chunk(index, left.taken, chunk, thread, round);
        return true;
      }
    }
  }

  void run_chunk(std::uint32_t index, std::uint32_t first, std::uint32_t count,
                 std::uint32_t thread, std::uint32_t round) {
    Progress& progress = progress_[thread];
    if (!progress.took_part(round)) progress.working = 0;
    const std::uint64_t begin = ticks();
    tasks().run(index, first, first + count, thread);
    progress.last_arrival = ticks();
    progress.working += progress.last_arrival - begin;
    progress.completed.store(round, progress.completed.of(round) + count);
  }

  bool complete() const {
    std::uint32_t shares = 0, tasks = 0, completed = 0;
    for (const Progress& progress : progress_) {
      completed += progress.completed.of(round_);
      shares += progress.shares.of(round_);
      tasks += progress.tasks.of(round_);
    }
    return shares == threads_ && completed == tasks;
  }

  void account(std::uint64_t begin, std::uint64_t exit) {
    std::uint64_t last_arrival = begin;
    for (const Progress& progress : progress_) {
      if (progress.took_part(round_)) last_arrival = std::max(last_arrival, progress.last_arrival);
    }
    double working = 0, longest = 0;
    double waiting = 0;
    std::uint32_t count = 0;
    for (const Progress& progress : progress_) {
      const bool took_part = progress.took_part(round_);
      const double own = took_part ? static_cast<double>(progress.working) : 0;
      working += own;
      longest = std::max(longest, own);
      waiting += static_cast<double>(last_arrival - (took_part ? progress.last_arrival : begin));
      count += progress.tasks.of(round_);
    }
    const double elapsed = static_cast<double>(exit - begin);
    times_.working += working / threads_;
    times_.waiting += waiting / threads_;
    times_.synchronising += std::max(0.0, elapsed - (working + waiting) / threads_);
    // A round in which some thread lost its core says nothing, so the least counts, for a while.
    sharing_ticks_ = std::min(sharing_ticks_ * 1.001, elapsed - longest);
    remember(working, count);
  }

  /// Remembers the cost of a window, to decide how to run the next.
  void remember(double working, std::uint32_t count) {
    if (count > 0) learned_task_ticks_ += (working / count - learned_task_ticks_) / 8;
    // Two threads take half of the time for the work, what the round costs, and as much again for
    // the slower half.
    const double least =
        std::clamp(3.6 * sharing_ticks_ / ticks_per_microsecond_, least_shared, most_alone);
    worth_sharing_ = working / ticks_per_microsecond_ > (worth_sharing_ ? least : least * 4 / 3);
  }

  const std::uint32_t threads_;
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::task_group group_;
  // Waiting threads read this cache line only.  The calling thread writes it to open a round, which
  // publishes its other data.
  /// Number of the round, or the wish to end.
  alignas(sharing_bytes) std::atomic<std::uint32_t> signal_{0};
  std::atomic<WindowTasks*> tasks_{nullptr};
  // Hints: late helpers read them too.
  std::atomic<std::uint64_t> number_{0};
  std::atomic<double> task_ticks_{0};
  alignas(sharing_bytes) std::atomic<std::uint32_t> sleepers_{0};
  /// Marks the end for race checkers that cannot see into TBB.
  std::atomic<std::uint32_t> left_{0};
  alignas(sharing_bytes) std::vector<TaskShare> shares_;
  std::vector<Progress> progress_;  ///< progress of each thread
  const double ticks_per_microsecond_;
  const bool crowded_;
  // The calling thread's own.
  alignas(sharing_bytes) double learned_task_ticks_ = 0;
  /// Least time lately by which a round took longer than its busiest thread worked.
  double sharing_ticks_ = 2.5 * ticks_per_microsecond_;
  std::uint32_t round_ = 0;
  bool worth_sharing_ = false;
  bool running_ = false;
  ExecutorTimes times_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(std::uint32_t threads) {
  return std::make_unique<ThreadExecutor>(threads);
}

}  // namespace lockstep
