#pragma once

namespace lockstep {

/// A component to which some links carry only answers to its own requests (Graph::Carries).
///
/// While no component of a kind acts, is to receive anything, or waits for an answer, nothing can
/// come over these links: horizons are further away then (inside_distances.hpp).
class AnswerReceiver {
 public:
  virtual ~AnswerReceiver() = default;
  /// Returns whether a request has no answer yet.
  virtual bool awaits_answers() const = 0;
};

}  // namespace lockstep
