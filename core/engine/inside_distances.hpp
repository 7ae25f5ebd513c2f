/// Distances within a rank, over the links that can carry something now.
///
/// A kind of components is quiet while none of its components on this rank has an activity or a
/// message to come, and none waits for an answer.  Links that carry only answers to a quiet kind
/// count for nothing: before one of them carries an answer, the receiver must have sent a request,
/// and so a chain of messages has reached it that does not use such a link.  That chain goes on
/// from the receiver as the answer would, but earlier; so the least distances without these links
/// bound both chains.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/engine/answer_receiver.hpp"
#include "core/engine/distance.hpp"
#include "core/engine/epoch.hpp"

namespace lockstep {

class InsideDistances {
 public:
  /// Graph and assignment outlive this object.
  InsideDistances(const Graph& graph, const Assignment& assignment, int rank);

  /// Takes the components of this rank, among which it asks AnswerReceivers.
  void watch(std::span<const LocalComponent> components);
  /// Returns the distances over all links.
  const Distances& all() const { return tables_.at(0); }
  /// Returns the distances between windows. `next`: first activity or arrival of each kind.
  const Distances& now(const std::vector<Time>& next);

 private:
  /// Components of a kind to which some links carry only answers.
  struct Receivers {
    std::size_t kind = 0;
    std::vector<const AnswerReceiver*> components;
  };

  bool is_quiet(const Receivers& receivers, const std::vector<Time>& next) const;
  const Distances& table(std::uint64_t quiet);

  const Graph& graph_;
  const Assignment& assignment_;
  const int rank_;
  std::vector<Receivers> receivers_;
  std::map<std::uint64_t, Distances> tables_;  ///< key: a bit for each quiet kind
};

}  // namespace lockstep
