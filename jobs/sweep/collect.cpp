/// `lockstep collect`: the counts of a sweep's runs in one HDF5 file.
///
///     /points/name, /points/status      [P] of each point: done, or missing
///     /parameters/<key>                 [P] what it set: numbers if all are, else texts; dimension
///                                       scales of all below
///     /tenants/<column>                 [P, tenants] of the tables of that name, their names too
///     /tenants/slowdown, ipc_alone, ipc_shared   [P, tenants] of `compare`
///     /final/stats/<kind>/<counter>     [P, ...] summed over the instances of the kind
///     /metrics/<name>                   [P] of `compare`
///
/// Missing values of a point are 0 (numbers), "" (texts) or NaN (reals).
#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"
#include "core/output/durable.hpp"
#include "core/output/hdf5.hpp"
#include "core/parameters/document.hpp"
#include "jobs/options.hpp"
#include "jobs/sweep/point_state.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

constexpr const char* file_type = "lockstep sweep";

/// A row of numbers per point.
struct Column {
  h5::Shape row;
  std::vector<std::uint64_t> values;  ///< integers, or the bits of reals
  bool is_real = false;
  std::string unit, description;
};

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

class Collection {
 public:
  explicit Collection(const Sweep& sweep) : sweep_(sweep) {}

  void read() {
    for (std::size_t p = 0; p < sweep_.points.size(); ++p) {
      const SweepPoint& point = sweep_.points[p];
      const bool done = state_of(sweep_, point) == PointState::done;
      names_.push_back(point.name);
      statuses_.push_back(done ? "done" : "missing");
      if (!done) continue;
      const h5::File file = h5::File::open_to_read(output_of(sweep_, point));
      const std::vector<TenantRow> rows = read_table<TenantRow>(file);
      read_tenants(rows, p);
      read_totals(file, p);
      if (sweep_.command == "compare") read_metrics(point, rows, p);
    }
  }

  void write(const std::string& path) const {
    const std::string unfinished = path + ".writing";
    h5::File file = h5::File::create(unfinished, path);
    try {
      write(file);
      file.close();
      if (take_name(unfinished, path)) return;
      const std::string reason = std::strerror(errno);
      throw UserError(path, "cannot be written: " + reason,
                      file_advice(reason, "free space there, or choose another --output"));
    } catch (const UserError&) {
      // The library cannot close a file that a full disk has no room for.
      file.abandon();
      std::error_code ignored;
      std::filesystem::resize_file(unfinished, 0, ignored);
      std::filesystem::remove(unfinished, ignored);
      throw;
    }
  }

  std::size_t done() const {
    return static_cast<std::size_t>(std::count(statuses_.begin(), statuses_.end(), "done"));
  }

 private:
  void write(h5::File& file) const {
    file.set_attribute("/", "file type", std::string(file_type));
    file.write_texts("/points/name", names_);
    file.write_texts("/points/status", statuses_);
    const std::vector<std::string> scales = write_parameters(file);
    std::vector<h5::ScaledAxes> scaled;
    for (const auto& [where, column] : columns_) {
      h5::Shape shape = column.row;
      shape.insert(shape.begin(), sweep_.points.size());
      const h5::Scalar type = column.is_real ? h5::Scalar::f64 : h5::Scalar::u64;
      file.write_array(where, type, shape, column.values.data());
      file.set_attributes(where, {{"unit", column.unit}, {"description", column.description}});
      scaled.push_back({where, {scales}});
    }
    for (const auto& [where, rows] : texts_) {
      std::size_t longest = 0;
      for (const auto& row : rows) longest = std::max(longest, row.size());
      std::vector<std::string> all;
      for (std::vector<std::string> row : rows) {
        row.resize(longest);
        all.insert(all.end(), row.begin(), row.end());
      }
      file.write_texts(where, {rows.size(), longest}, all);
      scaled.push_back({where, {scales}});
    }
    if (!scales.empty()) file.attach_scales(scaled);
  }

  /// Returns the place for the row of a point; nullptr if its shape differs from the shape of other
  /// points.
  std::uint64_t* place(const std::string& where, std::size_t point, const Column& as) {
    const auto [found, is_new] = columns_.try_emplace(where, as);
    Column& column = found->second;
    std::uint64_t words = 1;
    for (const std::uint64_t side : column.row) words *= side;
    if (is_new) {
      column.values.assign(sweep_.points.size() * words,
                           as.is_real ? bits_of(std::numeric_limits<double>::quiet_NaN()) : 0);
    }
    return column.row == as.row ? &column.values[point * words] : nullptr;
  }

  void read_tenants(const std::vector<TenantRow>& rows, std::size_t point) {
    const TableSchema& schema = table_schema_of<TenantRow>();
    for (const TableColumn& column : schema.columns) {
      if (column.type == TableColumn::Type::text) {
        auto& texts = texts_.try_emplace("/tenants/" + column.name, sweep_.points.size())
                          .first->second[point];
        for (const TenantRow& row : rows)
          texts.push_back(*reinterpret_cast<const std::string*>(
              reinterpret_cast<const char*>(&row) + column.offset));
        continue;
      }
      Column as{{rows.size()}, {}, column.type == TableColumn::Type::real, column.unit, column.doc};
      std::uint64_t* words = place("/tenants/" + column.name, point, as);
      for (std::size_t t = 0; words && t < rows.size(); ++t) {
        const bool is_short = column.type == TableColumn::Type::uint32;
        words[t] = 0;
        std::memcpy(&words[t], reinterpret_cast<const char*>(&rows[t]) + column.offset,
                    is_short ? sizeof(std::uint32_t) : sizeof(std::uint64_t));
      }
    }
  }

  void read_totals(const h5::File& file, std::size_t point) {
    for (const h5::Object& object : file.objects()) {
      if (!object.is_dataset || !object.path.starts_with("/final/stats/")) continue;
      const h5::Shape shape = file.shape(object.path);
      if (shape.empty()) continue;
      const std::vector<std::uint64_t> counted = file.words(object.path, 0, shape[0]);
      if (counted.empty()) continue;
      Column as{{shape.begin() + 1, shape.end()}, {}, false, "", ""};
      // A counter's facts are equal in every file; those of the first are used.
      if (const auto known = columns_.find(object.path); known != columns_.end()) {
        as.is_real = known->second.is_real;
      } else {
        as.is_real = file.type(object.path).description == "f64";
        as.unit = file.text_attribute(object.path, "unit");
        as.description = file.text_attribute(object.path, "description");
      }
      std::uint64_t* words = place(object.path, point, as);
      const std::size_t count = counted.size() / shape[0];
      for (std::size_t i = 0; words && i < count; ++i)
        words[i] = sum(counted, i, count, as.is_real);
    }
  }

  /// Returns the sum over the instances: every `stride`-th word from `first` on.
  static std::uint64_t sum(const std::vector<std::uint64_t>& words, std::size_t first,
                           std::size_t stride, bool is_real) {
    std::uint64_t whole = 0;
    double real = 0;
    for (std::size_t at = first; at < words.size(); at += stride) {
      whole += words[at];
      real += std::bit_cast<double>(words[at]);
    }
    return is_real ? bits_of(real) : whole;
  }

  void read_metrics(const SweepPoint& point, const std::vector<TenantRow>& rows,
                    std::size_t index) {
    const Node metrics = load_document(measures_of(sweep_, point));
    for (const auto& [name, value] : metrics.entries()) {
      if (!value.is_scalar()) continue;
      Column as{{}, {}, true, "ratio", "as `lockstep compare` says it"};
      *place("/metrics/" + name, index, as) = bits_of(value.real());
    }
    const Node tenants = metrics.at("tenants");
    for (const char* name : {"ipc_alone", "ipc_shared", "slowdown"}) {
      const Column as{{rows.size()}, {}, true, "", "as `lockstep compare` says it"};
      std::uint64_t* const words = place(std::string("/tenants/") + name, index, as);
      for (std::size_t t = 0; words && t < rows.size(); ++t)
        words[t] = bits_of(tenants.at(rows[t].tenant).at(name).real());
    }
  }

  /// Returns the values as numbers, NaN where none is set; nothing if some are no numbers.
  static std::optional<std::vector<double>> numbers_of(const std::vector<std::string>& texts) {
    std::vector<double> numbers;
    for (const std::string& text : texts) {
      double number = std::numeric_limits<double>::quiet_NaN();
      const char* const end = text.data() + text.size();
      if (!text.empty() && std::from_chars(text.data(), end, number).ptr != end)
        return std::nullopt;
      numbers.push_back(number);
    }
    return numbers;
  }

  /// Returns the paths of the parameters that all points set.
  std::vector<std::string> write_parameters(h5::File& file) const {
    std::map<std::string, std::vector<std::string>> values;
    const std::size_t count = sweep_.points.size();
    for (std::size_t p = 0; p < count; ++p) {
      const SweepPoint& point = sweep_.points[p];
      auto& scenarios = values.try_emplace("scenario", count).first->second;
      scenarios[p] = std::filesystem::path(point.scenario).stem().string();
      for (const auto& [key, value] : point.parameters)
        values.try_emplace(key, count).first->second[p] = value;
    }
    std::vector<std::string> scales;
    for (const auto& [key, texts] : values) {
      scales.push_back("/parameters/" + key);
      if (const auto numbers = numbers_of(texts))
        file.write_array(scales.back(), h5::Scalar::f64, {count}, numbers->data());
      else
        file.write_texts(scales.back(), texts);
      file.make_scale(scales.back(), key);
    }
    return scales;
  }

  const Sweep& sweep_;
  std::vector<std::string> names_, statuses_;
  std::map<std::string, Column> columns_;
  std::map<std::string, std::vector<std::vector<std::string>>> texts_;  ///< texts by path and point
};

}  // namespace

int collect_command(const CommandLine& line) {
  const Sweep sweep = read_sweep(line.scenario);
  Collection collection(sweep);
  collection.read();
  const std::string path = line.output.empty() ? sweep.folder + ".h5" : line.output;
  std::error_code absent;
  if (std::filesystem::exists(path, absent) && text_attribute(path, "/", "file type") != file_type)
    throw UserError(path, "is there and is no collected sweep, which would replace it",
                    "choose another --output or remove the file");
  collection.write(path);
  std::printf("%s: %zu of %zu points\n", path.c_str(), collection.done(), sweep.points.size());
  return exit_done;
}

}  // namespace lockstep
