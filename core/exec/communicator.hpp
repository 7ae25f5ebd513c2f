#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

/// The ranks of a run.  Only the main thread calls the functions (MPI_THREAD_FUNNELED).  All ranks
/// call them together, except send and receive, which two ranks call for each other.
class Communicator {
 public:
  using Bytes = std::vector<std::byte>;

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Exchanges a message with each rank in `neighbours` (sorted; the relation is symmetric); a
  /// message may be empty. `outgoing[i]` goes to neighbours[i]; the message of neighbours[i] lands
  /// in `incoming[i]`.
  virtual void exchange(std::span<const int> neighbours, std::span<const Bytes> outgoing,
                        std::span<Bytes> incoming) = 0;

  /// Replaces the values by the elementwise minimum over all ranks.
  virtual void minimum(std::span<std::int64_t> values) = 0;

  /// Sends bytes.  Returns when `to` has begun to receive, so that no rank gets more than it has
  /// asked for.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual Bytes receive(int from) = 0;

  /// Returns on rank 0 the contribution of every rank, by rank; empty elsewhere.
  std::vector<Bytes> gather(Bytes contribution);
};

/// Communicator of a run on one rank.
class SelfCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(std::span<const int>, std::span<const Bytes>, std::span<Bytes>) override {}
  void minimum(std::span<std::int64_t>) override {}
  void send(int, std::span<const std::byte>) override {}
  Bytes receive(int) override { return {}; }
};

}  // namespace lockstep
