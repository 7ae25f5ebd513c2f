#include "tests/unit/driver/prefetch/prefetch_bench.hpp"

#include "core/parameters/document.hpp"
#include "core/parameters/parameters.hpp"

namespace lockstep {
namespace {

struct Chosen {
  PolicyChoice prefetcher;
  static auto schema() {
    return parameters<Chosen>().policy("prefetcher", &Chosen::prefetcher, "none",
                                       prefetcher_policies, "the one under test");
  }
};

}  // namespace

PrefetchBench::PrefetchBench(const std::string& choice, std::uint64_t kib)
    : prefetcher_(make_prefetcher(
          read_parameters<Chosen>(parse_document("prefetcher: " + choice, "test")).prefetcher)) {
  residency_.add(TenantId{0}, BufferId{0}, VirtualPage{1000},
                 1);  // page numbers of the allocation do not start at 0
  allocation_ = residency_.add(TenantId{1}, BufferId{0}, VirtualPage{4096}, kib / 4);
}

PrefetchBench::~PrefetchBench() = default;

void PrefetchBench::set(std::uint64_t first, std::uint64_t count, PagePlace place) {
  for (std::uint64_t i = first; i < first + count; ++i) residency_.set_place(page(i), place);
}

std::vector<PageRange> PrefetchBench::fault(const std::vector<std::uint64_t>& pages) {
  faults_.clear();
  for (const std::uint64_t p : pages) faults_.push_back(page(p));
  moves_.clear();
  prefetcher_->choose({residency_, allocation(), faults_, seed_, number_, &decisions_}, moves_);
  number_ += pages.size();
  std::vector<PageRange> result = moves_;
  for (PageRange& range : result) {
    range.first = ManagedPage{range.first - allocation().first};
    set(range.first.value(), range.count, PagePlace::gpu);
  }
  return result;
}

std::vector<std::uint64_t> PrefetchBench::blocks() const {
  std::vector<std::uint64_t> result;
  for (const PageRange& range : moves_) {
    for (ManagedPage p = range.first; p < range.end(); ++p) {
      const std::uint64_t block = (p - allocation().first) / 16 + 1;
      if (result.empty() || result.back() != block) result.push_back(block);
    }
  }
  return result;
}

std::vector<std::uint64_t> PrefetchBench::decisions() const {
  std::vector<std::uint64_t> result;
  for (const Counter& counter : decisions_) result.push_back(counter.value());
  return result;
}

std::vector<int> PrefetchBench::transfers(FaultSplit mode) const {
  std::vector<PlannedTransfer> planned;
  split_moves(moves_, faults_, mode, planned);
  std::vector<int> result;
  for (const PlannedTransfer& t : planned) {
    result.push_back(static_cast<int>(t.pages.count) * (t.fault ? -4 : 4));
  }
  return result;
}

}  // namespace lockstep
