#pragma once

#include "core/time/time.hpp"

namespace lockstep {

/// Periods of simulated time; the k-th begins at exactly k * period.
class Period {
 public:
  explicit Period(Time length) : length_(length), end_(length) {}

  /// Returns whether a new period has begun since the last call.
  bool begun(Time now) {
    if (now < end_) return false;
    end_ = length_ * (now / length_ + 1);
    return true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(end_);
  }

 private:
  Time length_, end_;
};

}  // namespace lockstep
