/// Random pipelines of producers and consumers: tiles come by asynchronous copies into a few stages
/// of shared memory, and barriers of mbarrier say when a stage is full and when it is empty.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace lockstep::testing {

/// A kernel whose result is the same however threads are interleaved, and the workload that
/// launches it.
///
/// Producers and consumers may stand in one warp.  Copies have 4, 8 or 16 bytes of which any number
/// is read, some lanes make none, and a stage is reported as full by each kind of arrival there is.
/// Waits suspend, for a time that is long enough or not, or ask again and again.  Some consumers
/// leave early, and drop out of the barriers.
class RandomPipeline {
 public:
  explicit RandomPipeline(std::uint64_t seed);

  const std::string& ptx() const { return ptx_; }
  const std::string& workload() const { return workload_; }

 private:
  enum class Arrival { counted, joining, waited };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned of) { return below(of) == 0; }
  std::string wait(const std::string& address, const std::string& parity);
  std::string producer();
  std::string consumer();
  std::string leaving();
  std::string kernel();
  std::string workload_text();

  std::mt19937_64 random_;
  unsigned threads_, producers_, stages_, tiles_, chunks_, copy_bytes_, blocks_;
  unsigned leave_after_ = 0;  ///< tiles; 0: nobody leaves early
  Arrival arrival_;
  unsigned waits_ = 0;  ///< labels so far
  std::string ptx_, workload_;
};

}  // namespace lockstep::testing
