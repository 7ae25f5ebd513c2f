/// Random pipelines of producers and consumers: tiles come by asynchronous copies, or by bulk
/// copies, into a few stages of shared memory, and barriers of mbarrier say when a stage is full
/// and when it is empty.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lockstep::testing {

/// A kernel whose result is the same however threads are interleaved, and the workload that
/// launches it.
///
/// Producers and consumers may stand in one warp.  Copies have 4, 8 or 16 bytes of which any number
/// is read, some lanes make none, and a stage is reported as full by each kind of arrival there is.
/// Waits suspend, for a time that is long enough or not, or ask again and again.  Some consumers
/// leave early, and drop out of the barriers.
///
/// Bulk copies are of any number of units, also of none.  Barriers count their bytes, which are
/// expected before or behind the copy.  At its end a block stores its stages in bulk, in groups.
class RandomPipeline {
 public:
  enum class Copies { by_lanes, in_bulk };
  explicit RandomPipeline(std::uint64_t seed, Copies copies = Copies::by_lanes);

  /// Settings of a machine for it, with a random engine for bulk copies if it needs one.
  std::vector<std::string> settings();

  const std::string& ptx() const { return ptx_; }
  const std::string& workload() const { return workload_; }

 private:
  enum class Arrival { counted, joining, waited };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned of) { return below(of) == 0; }
  std::string wait(const std::string& address, const std::string& parity);
  std::string producer();
  std::string bulk_producer();
  std::string bulk_stores();
  std::string consumer();
  std::string leaving();
  std::string kernel();
  std::string workload_text();

  std::mt19937_64 random_;
  const Copies copies_;
  unsigned threads_, producers_, stages_, tiles_, chunks_, copy_bytes_, blocks_;
  unsigned leave_after_ = 0;  ///< tiles; 0: nobody leaves early
  Arrival arrival_;
  unsigned waits_ = 0;  ///< labels so far
  std::string ptx_, workload_;
};

}  // namespace lockstep::testing
