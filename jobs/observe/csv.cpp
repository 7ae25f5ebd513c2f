/// Tidy CSV: a row per observation, a column per variable.
/// Source: RFC 4180 (quoting).
///
///     time_fs,counter,instance,tenant,behind,name,value
///
/// `behind` is the second tenant of a matrix of delays, `name` an entry of a set of counters or the
/// least value of a bin of a histogram.  Entries that are 0 have no row, so that the sizes of both
/// files are alike.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "jobs/observe/export.hpp"
#include "jobs/observe/written_file.hpp"

namespace lockstep {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + '"';
}

std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
  return texts;
}

std::string axes_of(const h5::File& file, const std::string& path) {
  std::string axes = file.text_attribute(path, "axes");
  if (axes.empty()) file.refuse(path, "does not tell its axes");
  return axes;
}

/// Labels of the entries of a counter, in their order within an epoch: ",3,graph,,barrier,".
class Labels {
 public:
  Labels(const ObservedRun& run, const std::string& counter, const h5::Shape& shape) {
    std::string axes = axes_of(run.file(), "/stats/" + counter);
    std::vector<std::string> tenants;
    for (const std::string& name : run.tenants_of(counter)) tenants.push_back(quoted(name));
    std::size_t column_of_tenant = 1;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) {
      const std::size_t comma = axes.find(", ");
      if (comma == std::string::npos)
        run.file().refuse("/stats/" + counter, "has more axes than names");
      axes.erase(0, comma + 2);
      const std::string name = axes.substr(0, axes.find(','));
      std::vector<std::string> entries = tenants;
      std::size_t column = 3;
      if (name == "instance") {
        entries = numbers(shape[axis]);
        column = 0;
      } else if (name == "tenant") {
        column = column_of_tenant++;
      } else {
        entries = read_scale(run.file(), "/axes/" + counter + "_" + name + "s", name == "bin");
      }
      if (entries.size() != shape[axis])
        throw UserError(run.file().path(), "axes of " + counter + " do not fit",
                        "it may be damaged");
      multiply(entries, column);
    }
    for (const auto& row : rows_)
      texts_.push_back(fmt::format(",{},{},{},{},{},", counter, row[0], row[1], row[2], row[3]));
  }
  const std::string& operator[](std::size_t entry) const { return texts_[entry]; }
  std::size_t size() const { return texts_.size(); }

 private:
  using Row = std::array<std::string, 4>;  // instance, tenant, behind, name

  static std::vector<std::string> read_scale(const h5::File& file, const std::string& path,
                                             bool is_bins) {
    std::vector<std::string> texts;
    if (is_bins) {
      for (const std::uint64_t start : file.words(path, 0, file.rows(path)))
        texts.push_back(std::to_string(start));
    } else {
      for (const std::string& name : file.texts(path)) texts.push_back(quoted(name));
    }
    return texts;
  }

  void multiply(const std::vector<std::string>& entries, std::size_t column) {
    std::vector<Row> product;
    for (const Row& row : rows_) {
      for (const std::string& entry : entries) {
        product.push_back(row);
        product.back()[column] = entry;
      }
    }
    rows_ = std::move(product);
  }

  std::vector<Row> rows_{Row{}};
  std::vector<std::string> texts_;
};

void write_counter(const ObservedRun& run, const std::string& counter, WrittenFile& out) {
  const std::string path = "/stats/" + counter;
  const bool is_real = run.file().type(path).description == "f64";
  const h5::Shape shape = run.file().shape(path);
  const Labels labels(run, counter, shape);
  for_each_part(run.all(), labels.size(), [&](EpochRange part) {
    const std::vector<std::uint64_t> words = read_words(run.file(), path, part);
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == 0) continue;
      text += std::to_string(run.times()[part.first + i / labels.size()]);
      text += labels[i % labels.size()];
      text +=
          is_real ? fmt::format("{}", std::bit_cast<double>(words[i])) : std::to_string(words[i]);
      text += '\n';
    }
    out.write(text);
  });
}

/// Returns a number of a table as text; "" of a type that no table has.
std::string number_text(h5::Scalar type, const std::byte* at) {
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  };
  switch (type) {
    case h5::Scalar::u8:
      return read(std::uint8_t{});
    case h5::Scalar::u32:
      return read(std::uint32_t{});
    case h5::Scalar::u64:
      return read(std::uint64_t{});
    case h5::Scalar::i64:
      return read(std::int64_t{});
    case h5::Scalar::f64:
      return read(double{});
    default:
      return "";
  }
}

void write_rows(const h5::File& file, const std::string& path, WrittenFile& out) {
  const h5::ElementType type = file.type(path);
  if (type.members.empty() || type.description.empty() || file.shape(path).size() != 1)
    file.refuse(path, "is no table");
  std::string text;
  for (const h5::Member& member : type.members)
    text += (text.empty() ? "" : ",") + quoted(member.name);
  out.write(text + '\n');
  const std::uint64_t count = file.rows(path);
  const std::vector<std::byte> rows = file.read(path, 0, count);
  for (std::uint64_t row = 0; row < count; ++row) {
    text.clear();
    for (const h5::Member& member : type.members) {
      if (&member != type.members.data()) text += ',';
      const std::byte* at = rows.data() + row * type.bytes + member.offset;
      if (const auto* scalar = std::get_if<h5::Scalar>(&member.type)) {
        text += number_text(*scalar, at);
      } else {
        const std::string padded(reinterpret_cast<const char*>(at),
                                 std::get<std::size_t>(member.type));
        text += quoted(padded.substr(0, padded.find('\0')));
      }
    }
    out.write(text + '\n');
  }
}

}  // namespace

void export_csv(const ObservedRun& run, const std::string& table, const std::string& output) {
  WrittenFile out(output);
  if (!table.empty()) {
    write_rows(run.file(), "/" + table, out);
  } else {
    const std::string folder = "/stats/";
    out.write("time_fs,counter,instance,tenant,behind,name,value\n");
    for (const h5::Object& object : run.file().objects()) {
      if (object.is_dataset && object.path.starts_with(folder))
        write_counter(run, object.path.substr(folder.size()), out);
    }
  }
  out.finish();
}

}  // namespace lockstep
