/// Reception port: answers come in at one flit per network cycle, in order of arrival.
///
/// Source: gpu-parameters.md, section 8.
/// Simplified: the port never blocks, since every answer has a place reserved (architecture.md,
/// section 8, "Back-pressure").
#pragma once

#include <algorithm>

#include "models/noc/noc_parameters.hpp"

namespace lockstep {

class ReceptionPort {
 public:
  ReceptionPort() = default;
  explicit ReceptionPort(const NocParameters& noc) : noc_(noc), flit_(Clock{noc.clock}.period()) {}

  /// Returns when the last flit of an answer with so much data is in.
  Time receive(Time arrival, std::uint32_t data_bytes) {
    free_ = std::max(arrival, free_) + flit_ * noc_.flits(data_bytes);
    return free_;
  }
  template <class A>
  void serialize(A& archive) {
    archive(free_);
  }

 private:
  NocParameters noc_;
  Time flit_;
  Time free_ = Time::zero();
};

}  // namespace lockstep
