#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/output/hdf5.hpp"
#include "core/output/unwritten_words.hpp"
#include "core/statistics/schema.hpp"
#include "core/time/time.hpp"

namespace lockstep {

class Archive;
class GrowingTable;
class RunOutput;

/// A kind of component as the output file sees it.
struct KindStatistics {
  std::string name;  ///< name such as "sm" or "partition"
  const StatisticsSchema* schema = nullptr;
  std::uint32_t instances = 0;
  /// Condition under which a run has the kind, for the page of the output; empty: every run has it.
  std::string when = {};
  std::optional<std::uint32_t> group = {};  ///< group of the kind's components (Graph::Node)
};

/// Tenants by which the kinds of a group count: some of those of the run.
struct TenantGroup {
  std::string axis;  ///< path of the data set with the names of the axis: "/axes/gpu1/tenants"
  std::vector<std::string> names;
};

/// Place of each component's words in the flat row of an epoch: kind after kind, instance after
/// instance, field after field (StatisticsSchema::gather fills one component's part). The layout is
/// equal on all ranks.
class StatisticsLayout {
 public:
  /// Makes the layout.  `tenants`: number in the run; `groups`: number of tenants by which the
  /// kinds of each group count.
  StatisticsLayout(std::vector<KindStatistics> kinds, std::size_t tenants,
                   std::vector<std::size_t> groups = {});

  const std::vector<KindStatistics>& kinds() const { return kinds_; }
  std::size_t tenants() const { return tenants_; }
  /// Returns the number of tenants that a kind counts by.
  std::size_t tenants_of(std::size_t kind) const {
    const std::optional<std::uint32_t> group = kinds_[kind].group;
    return group ? groups_[*group] : tenants_;
  }
  /// Returns the number of words of the whole machine.
  std::size_t size() const { return size_; }
  /// Returns the words of one component of this kind.
  std::size_t row_size(std::size_t kind) const { return row_sizes_[kind]; }
  /// Returns the kind with this schema, in a group.
  std::size_t kind_of(const StatisticsSchema* schema,
                      std::optional<std::uint32_t> group = {}) const;
  /// Returns the first word of a component.
  std::size_t offset(std::size_t kind, std::size_t instance) const {
    return offsets_[kind] + instance * row_sizes_[kind];
  }

 private:
  std::vector<KindStatistics> kinds_;
  std::size_t tenants_;
  std::vector<std::size_t> groups_;
  std::vector<std::size_t> row_sizes_, offsets_;
  std::size_t size_ = 0;
};

/// Time that the recorder has spent writing rows to the file.
struct FlushTimes {
  std::uint64_t count = 0;
  double seconds = 0;
  double full = 0;  ///< number of flushes if rows were written only when there is no more room
};
/// Returns the least time from the end of a flush of `flush` seconds to the next one.
double seconds_to_next_flush(double flush);

/// Turns the values sampled at each epoch into rows of increments in the output file.  Lives on
/// rank 0.
class StatisticsRecorder {
 public:
  /// Creates /epochs and /stats in `output`, which must not have been started. `groups`: groups of
  /// the layout.
  StatisticsRecorder(RunOutput& output, StatisticsLayout layout,
                     const std::vector<std::string>& tenant_names,
                     const std::vector<TenantGroup>& groups = {});
  ~StatisticsRecorder();
  StatisticsRecorder(const StatisticsRecorder&) = delete;
  StatisticsRecorder& operator=(const StatisticsRecorder&) = delete;

  const StatisticsLayout& layout() const { return layout_; }

  /// Adds a table of the same output, whose rows are written and taken together with epochs.  The
  /// table outlives the recorder.
  void add(GrowingTable& table) { tables_.push_back(&table); }

  /// Takes over the rows written before the state that serialize() restored; for a resumed run,
  /// before RunOutput::start().
  void take_rows(const h5::File& from);

  /// `values`: all components' words as the layout says, at the epoch that ends at `end`.  Writes
  /// no row if no counter changed.
  void record(Time end, std::span<const std::uint64_t> values);
  /// Makes all recorded epochs readable; record() also does so about twice a second.
  void flush();
  /// Finishes the epochs, before RunOutput::finish_epochs().
  void finish();
  /// Writes the totals of the run as /final/stats, after RunOutput::finish_epochs().
  void write_totals();

  /// Returns all words as of the last recorded epoch.
  std::span<const std::uint64_t> totals() const { return previous_; }
  /// Returns the number of rows written so far.
  std::uint64_t epochs() const { return epochs_; }
  const FlushTimes& flush_times() const { return flush_times_; }

  /// Serialises the values from which the next increments are taken.
  void serialize(Archive& archive);

 private:
  struct Series;

  void create_kind(std::size_t kind, const std::string& tenant_axis,
                   std::vector<h5::ScaledAxes>& scaled);
  h5::ScaledAxes create_series(std::size_t kind, const StatisticsField& field,
                               const std::string& tenant_axis);
  void place_words(const Series& series);
  bool add_increments(std::span<const std::uint64_t> values);
  std::uint64_t most_bytes(std::uint64_t rows) const;

  RunOutput& output_;
  StatisticsLayout layout_;
  std::vector<Series> series_;
  std::vector<GrowingTable*> tables_;
  std::vector<UnwrittenWords::Place> places_;  ///< place of each word of the flat row
  std::vector<std::uint32_t> gauges_;  ///< numbers of the words that are gauges, not counters
  std::vector<std::uint64_t> previous_;
  std::vector<std::int64_t> pending_times_;
  UnwrittenWords pending_;
  h5::Series times_;
  std::uint64_t epochs_ = 0;
  std::chrono::steady_clock::time_point next_flush_;
  FlushTimes flush_times_;
  bool broken_ = false;  ///< true after a failed write
};

}  // namespace lockstep
