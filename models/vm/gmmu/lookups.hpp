/// Requests on their way through the second-level TLB.
///
/// A few lookups begin in each cycle, in order of arrival.  The large-page entries answer after the
/// latency, the others after twice the latency.  A miss that finds no free MSHR waits, and no
/// lookup begins meanwhile.
/// Source: 004, sections 6.4 (ports) and 7.5.2 (two arrays).
#pragma once

#include <cstdint>
#include <deque>

#include "core/checkpoint/archive.hpp"
#include "models/vm/gmmu/gmmu_cycle.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

struct Lookup {
  std::int64_t ready = 0;  ///< cycle in which the array that is looked up answers
  TranslateRequest request;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(ready, request);
  }
};

/// Requests with the same remaining latency.
class LookupStage {
 public:
  void add(std::int64_t ready, const TranslateRequest& request) {
    lookups_.push_back({ready, request});
  }
  /// Takes a request that is ready at `cycle`. Returns false if there is none.
  bool take(std::int64_t cycle, TranslateRequest& request) {
    if (next() > cycle) return false;
    request = lookups_.front().request;
    lookups_.pop_front();
    return true;
  }
  std::int64_t next() const { return lookups_.empty() ? GmmuCycle::never : lookups_.front().ready; }
  bool empty() const { return lookups_.empty(); }
  std::size_t size() const { return lookups_.size(); }

  void serialize(Archive& archive) { archive(lookups_); }

 private:
  std::deque<Lookup> lookups_;
};

}  // namespace lockstep
