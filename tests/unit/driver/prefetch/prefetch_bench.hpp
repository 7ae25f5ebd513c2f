#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/driver/prefetch/prefetcher.hpp"
#include "models/driver/prefetch/split.hpp"

namespace lockstep {

/// One managed allocation, a prefetcher and the pages that it has brought in.
class PrefetchBench {
 public:
  /// `choice` as under `policies.prefetcher`.
  PrefetchBench(const std::string& choice, std::uint64_t kib);
  ~PrefetchBench();

  ManagedPage page(std::uint64_t number) const { return allocation().first + number; }
  const Allocation& allocation() const { return residency_.allocation(allocation_); }
  void set(std::uint64_t first, std::uint64_t count, PagePlace place);

  /// What comes when these pages of the allocation fault together, numbered in the allocation; it
  /// is in GPU memory then.
  std::vector<PageRange> fault(const std::vector<std::uint64_t>& pages);
  /// Blocks of 64 KiB that hold what the last fault() brought, numbered from 1 as in the paper.
  std::vector<std::uint64_t> blocks() const;
  /// Its transfers in KiB; those somebody waits for as negative numbers.
  std::vector<int> transfers(FaultSplit mode = FaultSplit::upto) const;

  void set_seed(std::uint64_t seed) { seed_ = seed; }
  /// Of the next group of faults: key of random draws.
  std::uint64_t number() const { return number_; }
  void set_number(std::uint64_t number) { number_ = number; }
  /// Nodes of each height that were fetched so far.
  std::vector<std::uint64_t> decisions() const;

 private:
  Residency residency_;
  std::uint32_t allocation_ = 0;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::vector<ManagedPage> faults_;
  std::vector<PageRange> moves_;
  std::uint64_t seed_ = 1, number_ = 0;
  TreeDecisions decisions_{};
};

}  // namespace lockstep
