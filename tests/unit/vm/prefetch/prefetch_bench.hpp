#pragma once

#include <string>
#include <vector>

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"
#include "models/vm/prefetch/prefetcher.hpp"
#include "models/vm/prefetch/split.hpp"

namespace lockstep {

/// One managed allocation, a prefetcher and the pages that it has brought in.
class PrefetchBench {
 public:
  /// `choice` as under `policies.prefetcher`.
  PrefetchBench(const std::string& choice, std::uint64_t kib)
      : prefetcher_(make_prefetcher(
            read_parameters<Choice>(parse_document("prefetcher: " + choice, "test")).prefetcher)) {
    residency_.add(0, 0, 1000, 1);  // page numbers of the allocation do not start at 0
    allocation_ = residency_.add(1, 0, 4096, kib / 4);
  }

  ManagedPage page(std::uint64_t number) const { return allocation().first + number; }
  const Allocation& allocation() const { return residency_.allocation(allocation_); }
  void set(std::uint64_t first, std::uint64_t count, PagePlace place) {
    for (std::uint64_t i = first; i < first + count; ++i) residency_.set_place(page(i), place);
  }

  /// What comes when these pages of the allocation fault together, numbered in the allocation; it
  /// is in GPU memory then.
  std::vector<PageRange> fault(const std::vector<std::uint64_t>& pages) {
    faults_.clear();
    for (const std::uint64_t p : pages) faults_.push_back(page(p));
    moves_.clear();
    prefetcher_->choose({residency_, allocation(), faults_, seed_, number_}, moves_);
    number_ += pages.size();
    std::vector<PageRange> result = moves_;
    for (PageRange& range : result) {
      range.first -= allocation().first;
      set(range.first, range.count, PagePlace::gpu);
    }
    return result;
  }
  /// Blocks of 64 KiB that hold what the last fault() brought, numbered from 1 as in the paper.
  std::vector<std::uint64_t> blocks() const {
    std::vector<std::uint64_t> result;
    for (const PageRange& range : moves_) {
      for (ManagedPage p = range.first; p < range.end(); ++p) {
        const std::uint64_t block = (p - allocation().first) / 16 + 1;
        if (result.empty() || result.back() != block) result.push_back(block);
      }
    }
    return result;
  }
  /// Its transfers in KiB; those somebody waits for as negative numbers.
  std::vector<int> transfers(FaultSplit mode = FaultSplit::upto) const {
    std::vector<PlannedTransfer> planned;
    split_moves(moves_, faults_, mode, planned);
    std::vector<int> result;
    for (const PlannedTransfer& t : planned) {
      result.push_back(static_cast<int>(t.pages.count) * (t.fault ? -4 : 4));
    }
    return result;
  }

  void set_seed(std::uint64_t seed) { seed_ = seed; }

 private:
  struct Choice {
    PolicyChoice prefetcher;
    static auto schema() {
      return parameters<Choice>().policy("prefetcher", &Choice::prefetcher, "none",
                                         prefetcher_policies, "the one under test");
    }
  };

  Residency residency_;
  std::uint32_t allocation_ = 0;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::vector<ManagedPage> faults_;
  std::vector<PageRange> moves_;
  std::uint64_t seed_ = 1, number_ = 0;
};

}  // namespace lockstep
