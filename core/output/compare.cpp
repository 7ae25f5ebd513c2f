#include "core/output/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "core/output/hdf5.hpp"
#include "core/parameters/units.hpp"
#include "core/time/time.hpp"

namespace lockstep {
namespace {

using h5::Shape;

constexpr std::size_t most_lines = 20;
constexpr std::uint64_t block_bytes = 8 << 20;

constexpr const char* digests = "/final/digests";

bool is_compared(const std::string& path) {
  return path != "/run" && !path.starts_with("/run/");
}

template <class T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// Returns a number as text and, for ranking differences, as a double.
std::pair<std::string, double> number_text(h5::Scalar type, const std::byte* data) {
  const auto whole = [](auto value) { return std::pair{std::to_string(value), double(value)}; };
  switch (type) {
    case h5::Scalar::u8:
      return whole(load<std::uint8_t>(data));
    case h5::Scalar::u16:
    case h5::Scalar::bf16:
    case h5::Scalar::f16:
      return whole(load<std::uint16_t>(data));
    case h5::Scalar::u32:
      return whole(load<std::uint32_t>(data));
    case h5::Scalar::u64:
      return whole(load<std::uint64_t>(data));
    case h5::Scalar::i8:
      return whole(load<std::int8_t>(data));
    case h5::Scalar::i16:
      return whole(load<std::int16_t>(data));
    case h5::Scalar::i32:
      return whole(load<std::int32_t>(data));
    case h5::Scalar::i64:
      return whole(load<std::int64_t>(data));
    case h5::Scalar::f32:
      return {format_real(load<float>(data)), load<float>(data)};
    case h5::Scalar::f64:
      return {format_real(load<double>(data)), load<double>(data)};
  }
  return {};
}

std::pair<std::string, double> element_text(const h5::ElementType& type, const std::byte* data) {
  if (const auto* scalar = std::get_if<h5::Scalar>(&type.number)) return number_text(*scalar, data);
  const std::string text(reinterpret_cast<const char*>(data), type.bytes);
  return {"\"" + text.substr(0, std::min(text.find('\0'), std::size_t{60})) + "\"", 0.0};
}

/// Describes the member of a compound that differs, with its values.
std::string difference_text(const h5::ElementType& type, const std::byte* a, const std::byte* b,
                            double& size) {
  for (const h5::Member& member : type.members) {
    h5::ElementType inner;
    if (const auto* scalar = std::get_if<h5::Scalar>(&member.type)) {
      inner.number = *scalar;
      inner.bytes = h5::size_of(*scalar);
    } else {
      inner.bytes = std::get<std::size_t>(member.type);
    }
    if (std::memcmp(a + member.offset, b + member.offset, inner.bytes) == 0) continue;
    return "column " + member.name + ": " +
           difference_text(inner, a + member.offset, b + member.offset, size);
  }
  const auto [text_a, value_a] = element_text(type, a);
  const auto [text_b, value_b] = element_text(type, b);
  size = std::abs(value_a - value_b);
  return text_a + " against " + text_b;
}

/// Returns a text such as "[3, 1]" for a flat index into one row.
std::string index_text(std::uint64_t flat, const Shape& row) {
  std::string text;
  for (std::size_t i = row.size(); i-- > 0; flat /= row[i]) {
    text = std::to_string(flat % row[i]) + (text.empty() ? "" : ", ") + text;
  }
  return text.empty() ? "" : "[" + text + "]";
}

struct Difference {
  std::uint64_t row = 0;
  std::string place, values;  ///< place such as "[3, 1]", values such as "7 against 8"
};

/// Result of the comparison of one data set.
struct DatasetResult {
  std::string path;
  std::string structure;  ///< difference in type or shape; then nothing else was compared
  std::optional<Difference> first, largest;
  double largest_size = -1;
  std::uint64_t count = 0;
};

class Comparison {
 public:
  Comparison(const std::string& a, const std::string& b)
      : a_(h5::File::open_to_read(a)), b_(h5::File::open_to_read(b)) {
    names_ = {a, b};
    if (!a_.has("/epochs/time")) return;
    const Shape shape = a_.shape("/epochs/time");
    if (shape.size() == 1) times_ = a_.read("/epochs/time", 0, shape[0]);
  }

  FileComparison run() {
    compare_objects();
    compare_attributes();
    report();
    return std::move(result_);
  }

 private:
  void differ(const std::string& what) {
    result_.equal = false;
    others_.push_back(what);
  }

  /// Leaves out digests of buffers that only one run has: they exist only after --check.
  void leave_out_digests(std::map<std::string, bool>& of_checked, std::size_t checked) {
    const auto is_digest = [](const auto& object) { return object.first.starts_with(digests); };
    if (std::erase_if(of_checked, is_digest) > 0)
      result_.note = "only " + names_[checked] + " was run with --check: digests are not compared";
  }

  void compare_objects() {
    std::map<std::string, bool> in_a = list(a_), in_b = list(b_);
    if (in_b.count(digests) == 0) leave_out_digests(in_a, 0);
    if (in_a.count(digests) == 0) leave_out_digests(in_b, 1);
    for (const auto& [path, is_dataset] : in_a) {
      if (in_b.count(path) == 0) {
        differ(path + " is only in " + names_[0]);
      } else {
        common_.push_back(path);
        if (is_dataset != in_b.at(path)) {
          differ(path + " is a data set only in " + names_[is_dataset ? 0 : 1]);
        } else if (is_dataset) {
          compare_dataset(path);
        }
      }
    }
    for (const auto& [path, is_dataset] : in_b) {
      if (in_a.count(path) == 0) differ(path + " is only in " + names_[1]);
    }
  }

  static std::map<std::string, bool> list(const h5::File& file) {
    std::map<std::string, bool> result{{"/", false}};
    for (const h5::Object& object : file.objects()) {
      if (is_compared(object.path)) result[object.path] = object.is_dataset;
    }
    return result;
  }

  void compare_dataset(const std::string& path) {
    DatasetResult result{path, "", {}, {}};
    const h5::ElementType type = a_.type(path);
    const Shape shape_a = a_.shape(path), shape_b = b_.shape(path);
    if (type.description.empty()) {
      result.structure = "is of a type that no output of lockstep has";
    } else if (const std::string other = b_.type(path).description; type.description != other) {
      result.structure = "is " + type.description + " against " + other;
    } else if (shape_a.size() != shape_b.size() ||
               !std::equal(shape_a.begin() + !shape_a.empty(), shape_a.end(),
                           shape_b.begin() + !shape_b.empty())) {
      result.structure = "has shape " + shape_text(shape_a) + " against " + shape_text(shape_b);
    } else {
      compare_rows(path, type, shape_a, shape_b, result);
      if (shape_a != shape_b) {
        result.structure =
            "has " + std::to_string(shape_a[0]) + " rows against " + std::to_string(shape_b[0]);
      }
    }
    if (result.structure.empty() && result.count == 0) return;
    result_.equal = false;
    datasets_.push_back(std::move(result));
  }

  static std::string shape_text(const Shape& shape) {
    std::string text;
    for (const std::uint64_t side : shape)
      text += (text.empty() ? "" : " x ") + std::to_string(side);
    return text.empty() ? "scalar" : text;
  }

  void compare_rows(const std::string& path, const h5::ElementType& type, const Shape& shape_a,
                    const Shape& shape_b, DatasetResult& result) {
    const std::uint64_t rows = shape_a.empty() ? 1 : std::min(shape_a[0], shape_b[0]);
    const Shape row(shape_a.begin() + !shape_a.empty(), shape_a.end());
    std::uint64_t row_elements = 1;
    for (const std::uint64_t side : row) row_elements *= side;
    if (row_elements == 0) return;  // rows without elements are equal, however many there are
    const std::uint64_t block = std::max<std::uint64_t>(
        1, block_bytes / std::max<std::uint64_t>(1, row_elements * type.bytes));
    for (std::uint64_t first = 0; first < rows; first += block) {
      const std::uint64_t count = std::min(block, rows - first);
      const auto data_a = a_.read(path, first, count), data_b = b_.read(path, first, count);
      if (data_a == data_b) continue;
      for (std::uint64_t i = 0; i < count * row_elements; ++i) {
        const std::byte *at_a = &data_a[i * type.bytes], *at_b = &data_b[i * type.bytes];
        if (std::memcmp(at_a, at_b, type.bytes) == 0) continue;
        ++result.count;
        double size = 0;
        const std::string values = difference_text(type, at_a, at_b, size);
        const Difference difference{first + i / row_elements, index_text(i % row_elements, row),
                                    values};
        if (!result.first) result.first = difference;
        if (size > result.largest_size) {
          result.largest = difference;
          result.largest_size = size;
        }
      }
    }
  }

  void compare_attributes() {
    for (const std::string& path : common_) {
      std::map<std::string, h5::Attribute> in_a, in_b;
      for (h5::Attribute& attribute : a_.attributes(path)) in_a[attribute.name] = attribute;
      for (h5::Attribute& attribute : b_.attributes(path)) in_b[attribute.name] = attribute;
      for (const auto& [name, attribute] : in_a) {
        const std::string what = "attribute \"" + name + "\" of " + path;
        const auto other = in_b.find(name);
        if (other == in_b.end()) {
          differ(what + " is only in " + names_[0]);
        } else if (attribute.type.description.empty()) {
          differ(what + " is of a type that no output of lockstep has");
        } else if (attribute.type.description != other->second.type.description ||
                   attribute.shape != other->second.shape || attribute.data != other->second.data) {
          differ(what + " differs");
        }
      }
      for (const auto& [name, attribute] : in_b) {
        if (in_a.count(name) == 0) {
          differ("attribute \"" + name + "\" of " + path + " is only in " + names_[1]);
        }
      }
    }
  }

  /// Returns a text such as "epoch 12 (ends at 130us), sm[3] cycles[3, 1]" for series, "/kernels
  /// row 4" for others.
  std::string place_text(const DatasetResult& result, const Difference& difference) const {
    if (!result.path.starts_with("/stats/")) {
      return result.path + " row " + std::to_string(difference.row) + difference.place;
    }
    const std::size_t slash = result.path.find('/', 7);
    std::string when = "epoch " + std::to_string(difference.row);
    if ((difference.row + 1) * sizeof(std::int64_t) <= times_.size()) {
      const auto end = load<std::int64_t>(&times_[difference.row * sizeof(std::int64_t)]);
      when += " (ends at " + format_scalar(end, ParameterType::time) + ")";
    }
    const std::size_t comma = difference.place.find(',');
    const std::string instance =
        comma == std::string::npos ? difference.place : difference.place.substr(0, comma) + "]";
    const std::string rest =
        comma == std::string::npos ? "" : "[" + difference.place.substr(comma + 2);
    return when + ", " + result.path.substr(7, slash - 7) + instance + ", " +
           result.path.substr(slash + 1) + rest;
  }

  void report() {
    if (result_.equal) return;
    // Among the series the earliest epoch says most; the order of declaration breaks ties.
    const DatasetResult* earliest = nullptr;
    for (const DatasetResult& dataset : datasets_) {
      if (!dataset.first || !dataset.path.starts_with("/stats/")) continue;
      if (!earliest || dataset.first->row < earliest->first->row) earliest = &dataset;
    }
    for (const DatasetResult& dataset : datasets_) {
      if (!earliest && dataset.first) earliest = &dataset;
    }
    if (earliest) {
      result_.first_difference =
          place_text(*earliest, *earliest->first) + ": " + earliest->first->values;
    } else if (!datasets_.empty()) {
      result_.first_difference = datasets_[0].path + " " + datasets_[0].structure;
    } else {
      result_.first_difference = others_.at(0);
    }
    const auto rank = [](const DatasetResult& dataset) {
      return std::pair{dataset.path.starts_with("/stats/"), dataset.largest_size};
    };
    std::stable_sort(datasets_.begin(), datasets_.end(),
                     [&](const auto& x, const auto& y) { return rank(x) > rank(y); });
    for (const DatasetResult& dataset : datasets_) {
      if (!dataset.structure.empty())
        result_.largest.push_back(dataset.path + " " + dataset.structure);
      if (!dataset.largest) continue;
      result_.largest.push_back(place_text(dataset, *dataset.largest) + ": " +
                                dataset.largest->values + " (" + std::to_string(dataset.count) +
                                " values differ)");
    }
    result_.largest.insert(result_.largest.end(), others_.begin(), others_.end());
  }

  h5::File a_, b_;
  std::vector<std::string> names_;
  std::vector<std::byte> times_;
  std::vector<std::string> common_, others_;
  std::vector<DatasetResult> datasets_;
  FileComparison result_;
};

}  // namespace

std::string FileComparison::text() const {
  const std::string last = note.empty() ? "" : note + "\n";
  if (equal) return "equal outside /run\n" + last;
  std::string text = "first difference: " + first_difference + "\nlargest differences:\n";
  const std::size_t shown = std::min(largest.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) text += "  " + largest[i] + "\n";
  if (shown < largest.size()) {
    text += "  and " + std::to_string(largest.size() - shown) + " more\n";
  }
  return text + last;
}

FileComparison compare_files(const std::string& a, const std::string& b) {
  return Comparison(a, b).run();
}

}  // namespace lockstep
