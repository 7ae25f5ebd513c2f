#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/output/hdf5.hpp"
#include "core/parameters/node.hpp"
#include "jobs/observe/gpus_of_run.hpp"

namespace lockstep {

/// Rows of /epochs/time, and of all counters.
struct EpochRange {
  std::uint64_t first = 0, count = 0;
};

/// Calls function(part) for consecutive parts of `epochs` that are read at once; a row has `words`
/// 64-bit words.
template <class Function>
void for_each_part(EpochRange epochs, std::size_t row_words, Function&& function) {
  constexpr std::uint64_t most_words_at_once = 2 << 20;
  const std::uint64_t most =
      std::max<std::uint64_t>(most_words_at_once / std::max<std::size_t>(row_words, 1), 1);
  for (std::uint64_t done = 0; done < epochs.count; done += most)
    function(EpochRange{epochs.first + done, std::min(most, epochs.count - done)});
}

/// The output of a run at one moment: the run may be under way, or may have been killed. Code that
/// follows a run opens it again each time.
class ObservedRun {
 public:
  /// Opens the output of a run. Throws UserError if the file is none.
  explicit ObservedRun(const std::string& path);

  const h5::File& file() const { return file_; }
  const std::vector<std::string>& tenants() const { return tenants_; }
  /// Ends of the epochs that are complete everywhere, fs.
  const std::vector<std::int64_t>& times() const { return times_; }
  EpochRange all() const { return {0, times_.size()}; }
  /// Returns the resolved scenario.
  const Node& configuration() const { return configuration_; }
  const std::string& configuration_text() const { return configuration_text_; }
  const GpusOfRun& gpus() const { return *gpus_; }
  /// Returns the clock of the SMs on which a tenant runs.
  double core_hertz(std::size_t tenant) const { return gpus_->core_hertz(gpus_->gpu_of(tenant)); }
  /// Numbers of the tenants of a GPU, ascending.
  std::vector<std::size_t> tenants_on(std::size_t gpu) const;
  /// Returns the names of the tenants that a counter counts by: "sm/l1_hits", "gpu1/sm/l1_hits".
  std::vector<std::string> tenants_of(const std::string& counter) const;
  /// Returns whether the run's tables and totals are there.
  bool is_finished() const { return is_finished_; }
  /// Returns when the run ended, or its last epoch; fs.
  std::int64_t end() const { return end_; }

  /// Returns increments of a counter by tenant, [epoch][tenant], summed over instances and names.
  /// With several GPUs each tenant gets those of its own GPU.
  std::vector<std::uint64_t> by_tenant(const std::string& counter, EpochRange epochs) const;

 private:
  /// Adds a data set to the sums of its tenants, in its order of tenants.
  void add_by_tenant(const std::string& path, EpochRange epochs,
                     const std::vector<std::size_t>& numbers,
                     std::vector<std::uint64_t>& sums) const;

  h5::File file_;
  std::vector<std::string> tenants_;
  std::vector<std::int64_t> times_;
  std::string configuration_text_;
  Node configuration_;
  std::optional<GpusOfRun> gpus_;
  bool is_finished_ = false;
  std::int64_t end_ = 0;
};

/// Returns the numbers of a data set of 64-bit integers, as rows of its first axis.
std::vector<std::uint64_t> read_words(const h5::File& file, const std::string& path,
                                      EpochRange rows);

}  // namespace lockstep
