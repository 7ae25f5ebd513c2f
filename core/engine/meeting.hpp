#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/window/window.hpp"
#include "core/exec/communicator.hpp"

namespace lockstep {

/// Facts that ranks exchange together with messages, so that all of them know them.
struct Agreement {
  /// Earliest activity of each kind on any rank, messages on their way included.
  std::vector<Time> next;
  int failed_rank = nobody;  ///< lowest rank that failed
  bool finished = false;     ///< all components of all ranks have finished
  unsigned requests = 0;     ///< requests raised by any rank

  static constexpr int nobody = 0x7fffffff;
  Time earliest() const;
};

/// Exchanges between ranks: one message per neighbour, and a reduction if not all ranks are
/// neighbours.
class Meeting {
 public:
  Meeting(const Graph& graph, const Assignment& assignment, Communicator& communicator);

  const std::vector<int>& neighbours() const { return neighbours_; }
  /// Sends and receives messages; `own` (its `next` is ignored) becomes what all ranks agree on.
  Agreement meet(Window& window, Agreement own);

  std::uint64_t exchanges() const { return exchanges_; }
  /// Ticks spent waiting for ranks that were slower.
  std::uint64_t waiting_ticks() const { return waiting_ticks_; }
  /// Returns the wait in the exchange before the last one: ranks learn in an exchange how long
  /// others waited in the one before.
  std::uint64_t waited_before() const { return waited_before_; }
  /// Ticks spent on exchanges, waiting included.
  std::uint64_t exchange_ticks() const { return exchange_ticks_; }

 private:
  std::vector<std::int64_t> encode(const Agreement& own) const;
  Agreement decode(const std::vector<std::int64_t>& values);

  Communicator& communicator_;
  std::size_t kinds_;
  std::vector<int> neighbours_;
  bool all_are_neighbours_;
  std::vector<Communicator::Bytes> outgoing_, incoming_;
  std::int64_t last_wait_ = 0;  ///< ticks that this rank waited in the exchange before
  std::uint64_t exchanges_ = 0;
  std::uint64_t waiting_ticks_ = 0, waited_before_ = 0;
  std::uint64_t exchange_ticks_ = 0;
};

}  // namespace lockstep
