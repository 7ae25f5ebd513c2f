#include "core/exec/loopback_ranks.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace lockstep {

/// A queue for each ordered pair of ranks, and memory for reductions.
struct LoopbackRanks::Shared {
  explicit Shared(int ranks)
      : size(ranks),
        queues(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
        arrived(static_cast<std::size_t>(ranks)) {}

  std::deque<Communicator::Bytes>& queue(int from, int to) {
    return queues[static_cast<std::size_t>(from) * static_cast<std::size_t>(size) +
                  static_cast<std::size_t>(to)];
  }
  std::condition_variable& arrival(int rank) { return arrived[static_cast<std::size_t>(rank)]; }

  const int size;
  std::mutex mutex;
  std::vector<std::deque<Communicator::Bytes>> queues;
  std::vector<std::condition_variable> arrived;  ///< one condition per receiver
  std::condition_variable taken;

  std::condition_variable reduced;
  std::vector<std::int64_t> reducing, result;
  int contributions = 0;
  std::uint64_t reductions = 0;
};

class LoopbackRanks::Rank final : public Communicator {
 public:
  Rank(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return shared_.size; }

  void exchange(std::span<const int> neighbours, std::span<const Bytes> outgoing,
                std::span<Bytes> incoming) override {
    for (std::size_t i = 0; i < neighbours.size(); ++i) put(neighbours[i], outgoing[i]);
    for (std::size_t i = 0; i < neighbours.size(); ++i) incoming[i] = receive(neighbours[i]);
  }

  void minimum(std::span<std::int64_t> values) override {
    std::unique_lock lock(shared_.mutex);
    if (shared_.contributions == 0) {
      shared_.reducing.assign(values.begin(), values.end());
    } else {
      for (std::size_t i = 0; i < values.size(); ++i) {
        shared_.reducing[i] = std::min(shared_.reducing[i], values[i]);
      }
    }
    if (++shared_.contributions == shared_.size) {
      shared_.result = shared_.reducing;
      shared_.contributions = 0;
      ++shared_.reductions;
      shared_.reduced.notify_all();
    } else {
      const std::uint64_t mine = shared_.reductions;
      shared_.reduced.wait(lock, [&] { return shared_.reductions != mine; });
    }
    std::copy(shared_.result.begin(), shared_.result.end(), values.begin());
  }

  void send(int to, std::span<const std::byte> bytes) override {
    put(to, Bytes(bytes.begin(), bytes.end()));
    std::unique_lock lock(shared_.mutex);
    const std::deque<Bytes>& queue = shared_.queue(rank_, to);
    shared_.taken.wait(lock, [&] { return queue.empty(); });
  }

  Bytes receive(int from) override {
    std::unique_lock lock(shared_.mutex);
    std::deque<Bytes>& queue = shared_.queue(from, rank_);
    shared_.arrival(rank_).wait(lock, [&] { return !queue.empty(); });
    Bytes bytes = std::move(queue.front());
    queue.pop_front();
    shared_.taken.notify_all();
    return bytes;
  }

 private:
  void put(int to, Bytes bytes) {
    const std::lock_guard lock(shared_.mutex);
    shared_.queue(rank_, to).push_back(std::move(bytes));
    shared_.arrival(to).notify_one();
  }

  Shared& shared_;
  const int rank_;
};

LoopbackRanks::LoopbackRanks(int size) : shared_(std::make_unique<Shared>(size)) {}
LoopbackRanks::~LoopbackRanks() = default;

void LoopbackRanks::run(const std::function<void(Communicator&)>& rank_main) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(shared_->size));
  std::vector<std::thread> threads;
  threads.reserve(failures.size());
  for (int rank = 0; rank < shared_->size; ++rank) {
    threads.emplace_back([&, rank] {
      Rank communicator(*shared_, rank);
      try {
        rank_main(communicator);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace lockstep
