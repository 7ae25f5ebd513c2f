#include "core/output/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/output/growing_table.hpp"
#include "core/output/run_output.hpp"

namespace lockstep {
namespace {

constexpr std::size_t chunk_bytes = 16 << 10;
constexpr std::size_t index_node_bytes = 8 << 10;
constexpr std::size_t pending_bytes = 8 << 20, most_pending_rows = 1 << 16;
// Readers see new epochs twice a second, as long as writing takes at most a hundredth of the time.
constexpr double least_flush_interval = 0.5, longest_flush_interval = 10;  // seconds
constexpr double flush_share = 100;

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::round<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

std::size_t rows_of_chunk(std::size_t row_bytes) {
  return std::clamp<std::size_t>(chunk_bytes / row_bytes, 1, 256);
}

h5::Shape shape_of(const StatisticsField& field, std::size_t instances, std::size_t tenants) {
  h5::Shape shape{instances};
  for (const StatisticsAxis& axis : field.axes) {
    shape.push_back(axis.kind == StatisticsAxis::Kind::tenants ? tenants : axis.size);
  }
  return shape;
}

/// Returns the names of a field's axes, such as "epoch, instance, tenant, bin".
std::string axis_names(const StatisticsField& field) {
  std::string text = "instance";
  for (const StatisticsAxis& axis : field.axes) {
    text += axis.kind == StatisticsAxis::Kind::tenants ? ", tenant"
            : axis.kind == StatisticsAxis::Kind::bins  ? ", bin"
                                                       : ", name";
  }
  return text;
}

/// Returns the attributes of a field's data set.
h5::Attributes description_of(const StatisticsField& field, const std::string& first_axis) {
  const bool is_counter = field.kind == StatisticsField::Kind::counter;
  return {{"unit", field.unit},
          {"description", field.doc},
          {"kind", std::string(is_counter ? "counter" : "gauge")},
          {"axes", first_axis + axis_names(field)}};
}

h5::Scalar scalar_of(const StatisticsField& field) {
  return field.kind == StatisticsField::Kind::real_gauge ? h5::Scalar::f64 : h5::Scalar::u64;
}

/// Returns the dimension scale of a field's axis, made on first use if it is not shared.
std::string make_axis(h5::File& file, const std::string& kind, const StatisticsField& field,
                      const StatisticsAxis& axis, const std::string& tenant_axis) {
  if (axis.kind == StatisticsAxis::Kind::tenants) return tenant_axis;
  const bool bins = axis.kind == StatisticsAxis::Kind::bins;
  std::string path = "/axes/" + kind + "/" + field.name + (bins ? "_bins" : "_names");
  if (bins) {
    file.write_array(path, h5::Scalar::u64, {axis.size}, axis.bin_starts.data());
    file.set_attribute(path, "unit", field.unit);
    file.set_attribute(path, "description", std::string("least value of each bin"));
  } else {
    file.write_texts(path, axis.names);
    file.set_attribute(path, "description", std::string("what each entry counts"));
  }
  file.make_scale(path, bins ? "bin" : "name");
  return path;
}

constexpr const char* all_tenants = "/axes/tenants";

void write_tenants(h5::File& file, const std::string& axis, const std::vector<std::string>& names) {
  file.write_texts(axis, names);
  file.set_attribute(axis, "description", std::string("names of the tenants"));
  file.make_scale(axis, "tenant");
}

}  // namespace

double seconds_to_next_flush(double flush) {
  return std::clamp(flush * flush_share, least_flush_interval, longest_flush_interval);
}

/// A data set below /stats.
struct StatisticsRecorder::Series {
  std::string kind;
  const StatisticsField* field = nullptr;
  h5::Series dataset;
  std::size_t instances = 0, tenants = 0;
  std::size_t words = 0;              // words of one instance
  std::size_t first = 0, stride = 0;  // place of instance 0, and the distance to the next one

  bool is_counter() const { return field->kind == StatisticsField::Kind::counter; }
};

StatisticsRecorder::StatisticsRecorder(RunOutput& output, StatisticsLayout layout,
                                       const std::vector<std::string>& tenant_names,
                                       const std::vector<TenantGroup>& groups)
    : output_(output),
      layout_(std::move(layout)),
      places_(layout_.size()),
      previous_(layout_.size(), 0),
      next_flush_(std::chrono::steady_clock::now() + duration_of(least_flush_interval)) {
  LOCKSTEP_CHECK(tenant_names.size() == layout_.tenants(), "as many names as tenants");
  h5::File& file = output_.file();
  times_ = file.create_series("/epochs/time", h5::Scalar::i64, {}, 1024);
  file.set_attribute("/epochs/time", "unit", std::string("fs"));
  file.set_attribute("/epochs/time", "description", std::string("end of each recorded epoch"));
  file.make_scale("/epochs/time", "epoch");
  write_tenants(file, all_tenants, tenant_names);
  for (const TenantGroup& group : groups) write_tenants(file, group.axis, group.names);
  file.create_group("/stats");
  std::vector<h5::ScaledAxes> scaled;
  for (std::size_t kind = 0; kind < layout_.kinds().size(); ++kind) {
    const KindStatistics& entry = layout_.kinds()[kind];
    if (entry.instances == 0 || entry.schema->fields().empty()) continue;
    create_kind(kind, entry.group ? groups.at(*entry.group).axis : all_tenants, scaled);
  }
  for (std::size_t i = 0; i < series_.size(); ++i) scaled[i].open = &series_[i].dataset.dataset();
  file.attach_scales(scaled);
  pending_.make_room(pending_bytes / sizeof(h5::Series::Word) + layout_.size());
}

void StatisticsRecorder::create_kind(std::size_t kind, const std::string& tenant_axis,
                                     std::vector<h5::ScaledAxes>& scaled) {
  h5::File& file = output_.file();
  const KindStatistics& entry = layout_.kinds()[kind];
  file.create_group("/stats/" + entry.name);
  std::vector<std::uint64_t> numbers(entry.instances);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  const std::string scale = "/axes/" + entry.name + "/instance";
  file.write_array(scale, h5::Scalar::u64, {numbers.size()}, numbers.data());
  file.set_attribute(scale, "description", "index of a component of kind " + entry.name);
  file.make_scale(scale, "instance");
  const std::size_t tenants = layout_.tenants_of(kind);
  std::size_t offset = layout_.offset(kind, 0);
  for (const StatisticsField& field : entry.schema->fields()) {
    const std::size_t words = field.size(tenants);
    if (words == 0) continue;
    series_.push_back(
        {entry.name, &field, {}, entry.instances, tenants, words, offset, layout_.row_size(kind)});
    scaled.push_back(create_series(kind, field, tenant_axis));
    place_words(series_.back());
    offset += words;
  }
}

StatisticsRecorder::~StatisticsRecorder() {
  try {
    flush();  // a run that failed elsewhere keeps its last epochs
  } catch (const UserError&) {
    // The code that ended the run reports why.
  }
}

h5::ScaledAxes StatisticsRecorder::create_series(std::size_t number, const StatisticsField& field,
                                                 const std::string& tenant_axis) {
  h5::File& file = output_.file();
  const std::string& kind = layout_.kinds()[number].name;
  const std::size_t instances = layout_.kinds()[number].instances;
  const std::size_t tenants = layout_.tenants_of(number);
  const std::string path = "/stats/" + kind + "/" + field.name;
  const h5::Shape shape = shape_of(field, instances, tenants);
  const std::size_t row_bytes = instances * field.size(tenants) * sizeof(std::uint64_t);
  series_.back().dataset =
      file.create_series(path, scalar_of(field), shape, rows_of_chunk(row_bytes));
  series_.back().dataset.set_attributes(description_of(field, "epoch, "));
  h5::ScaledAxes scaled{path, {{"/epochs/time"}, {"/axes/" + kind + "/instance"}}};
  for (const StatisticsAxis& axis : field.axes)
    scaled.scales.push_back({make_axis(file, kind, field, axis, tenant_axis)});
  return scaled;
}

void StatisticsRecorder::take_rows(const h5::File& from) {
  const auto take = [&](const std::string& path, h5::Series& into, std::size_t row_bytes) {
    if (!from.has(path) || from.rows(path) < epochs_) {
      throw UserError(from.path(),
                      "has less than the " + std::to_string(epochs_) +
                          " epochs that were recorded before the checkpoint",
                      "name the output of that run with --output, or start it anew");
    }
    const std::uint64_t most = std::max<std::uint64_t>(pending_bytes / row_bytes, 1);
    for (std::uint64_t row = 0; row < epochs_; row += most) {
      const std::uint64_t count = std::min(most, epochs_ - row);
      const std::vector<std::byte> rows = from.read(path, row, count);
      if (rows.size() != count * row_bytes)
        throw UserError(from.path(), path + " has another shape", "start the run anew");
      into.append(rows.data(), count);
    }
  };
  take("/epochs/time", times_, sizeof(std::int64_t));
  for (Series& series : series_) {
    take("/stats/" + series.kind + "/" + series.field->name, series.dataset,
         series.instances * series.words * sizeof(std::uint64_t));
  }
  for (GrowingTable* table : tables_) table->take_rows(from);
}

void StatisticsRecorder::serialize(Archive& archive) {
  archive(previous_, epochs_);
  for (GrowingTable* table : tables_) archive(*table);
}

void StatisticsRecorder::place_words(const Series& series) {
  const auto number = static_cast<std::uint32_t>(series_.size() - 1);
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < series.instances; ++i) {
    const std::size_t first = series.first + i * series.stride;
    for (std::size_t word = first; word < first + series.words; ++word) {
      places_[word] = {number, index++};
      if (!series.is_counter()) gauges_.push_back(static_cast<std::uint32_t>(word));
    }
  }
}

/// Adds the increase of each word. Most words did not increase, so eight are checked at a time.
/// Returns whether any counter changed.
bool StatisticsRecorder::add_increments(std::span<const std::uint64_t> values) {
  constexpr std::size_t step = 8;
  const auto row = static_cast<std::uint32_t>(pending_times_.size());
  const std::size_t before = pending_.count();
  for (std::size_t first = 0; first < values.size(); first += step) {
    const std::size_t count = std::min(step, values.size() - first);
    if (std::memcmp(&values[first], &previous_[first], count * sizeof values[0]) == 0) continue;
    for (std::size_t word = first; word < first + count; ++word) {
      const std::uint64_t increment = values[word] - previous_[word];
      if (increment == 0) continue;
      previous_[word] = values[word];
      if (series_[places_[word].series].is_counter())
        pending_.add(row, static_cast<std::uint32_t>(word), increment);
    }
  }
  return pending_.count() > before;
}

void StatisticsRecorder::record(Time end, std::span<const std::uint64_t> values) {
  LOCKSTEP_CHECK(values.size() == layout_.size(), "an epoch's values have another size");
  if (add_increments(values)) {
    const auto row = static_cast<std::uint32_t>(pending_times_.size());
    for (const std::uint32_t word : gauges_) {
      if (values[word] != 0) pending_.add(row, word, values[word]);
    }
    pending_times_.push_back(end.femtoseconds());
    ++epochs_;
  }
  const bool many = pending_.count() * sizeof(h5::Series::Word) > pending_bytes ||
                    pending_times_.size() >= most_pending_rows;
  if (many || std::chrono::steady_clock::now() > next_flush_) flush();
}

/// The bound counts for each series the pending rows, the last chunk once more (compressed anew, it
/// may need another place), one more chunk, and nodes of its index.
std::uint64_t StatisticsRecorder::most_bytes(std::uint64_t rows) const {
  const std::uint64_t index = index_node_bytes + epochs_;
  std::uint64_t bytes = rows * sizeof(std::int64_t) + 2 * chunk_bytes + index;
  for (const Series& series : series_) {
    const std::uint64_t row = series.instances * series.words * sizeof(std::uint64_t);
    bytes += (rows + 2 * rows_of_chunk(row)) * row + index;
  }
  for (const GrowingTable* table : tables_) bytes += table->most_bytes();
  return bytes + bytes / 64;  // room for data that compression makes larger
}

void StatisticsRecorder::flush() {
  const auto has_rows = [](const GrowingTable* table) { return table->has_pending(); };
  if (broken_) return;
  if (pending_times_.empty() && std::none_of(tables_.begin(), tables_.end(), has_rows)) return;
  const auto begin = std::chrono::steady_clock::now();
  broken_ = true;  // a second try after a failure would write rows twice
  const std::uint64_t rows = pending_times_.size();
  flush_times_.full += static_cast<double>(pending_.count() * sizeof(h5::Series::Word)) /
                       static_cast<double>(pending_bytes);
  output_.make_room(most_bytes(rows));
  pending_.for_each_series(places_, series_.size(), [&](std::size_t number, auto words) {
    series_[number].dataset.append(rows, words);
    series_[number].dataset.flush();
  });
  pending_.cut(0);
  // Flushes data set by data set: a flush of the file would write the library's superblock, which
  // says that the file is being written.
  for (GrowingTable* table : tables_) table->flush();
  // Last, so that every epoch a reader sees here is complete everywhere.
  times_.append(pending_times_.data(), rows);
  pending_times_.clear();
  times_.flush();
  broken_ = false;
  const auto end = std::chrono::steady_clock::now();
  const std::chrono::duration<double> took = end - begin;
  ++flush_times_.count;
  flush_times_.seconds += took.count();
  next_flush_ = end + duration_of(seconds_to_next_flush(took.count()));
}

void StatisticsRecorder::finish() {
  flush();
  for (Series& series : series_) series.dataset.close();
  for (GrowingTable* table : tables_) table->close();
  times_.close();
}

void StatisticsRecorder::write_totals() {
  h5::File& file = output_.file();
  for (const Series& series : series_) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < series.instances; ++i) {
      const auto first = previous_.begin() + std::ptrdiff_t(series.first + i * series.stride);
      values.insert(values.end(), first, first + std::ptrdiff_t(series.words));
    }
    const std::string path = "/final/stats/" + series.kind + "/" + series.field->name;
    file.write_array(path, scalar_of(*series.field),
                     shape_of(*series.field, series.instances, series.tenants), values.data());
    file.set_attributes(path, description_of(*series.field, ""));
  }
}

}  // namespace lockstep
