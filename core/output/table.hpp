#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/output/hdf5.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A declared column of a table of the output file.
struct TableColumn {
  enum class Type : std::uint8_t { boolean, uint32, uint64, int64, real, text, time };
  std::string name, unit, doc;
  Type type = Type::uint64;
  std::size_t offset = 0;  ///< offset of the member in the row struct
  /// Only some files have the column; the member keeps its value otherwise.
  bool is_optional = false;
};

/// A table of the output file: a compound data set, one row per kernel, tenant, fault...
struct TableSchema {
  std::string path, doc;  ///< path such as "/kernels"
  std::vector<TableColumn> columns;
  std::size_t row_bytes = 0;
};

/// Declaration of a table row: each column once, beside its member.
///
///     struct KernelRow {
///       std::string kernel;  std::uint32_t tenant;  Time start;
///       static auto schema() {
///         return table<KernelRow>("/kernels", "one row per grid, in the order of completion")
///           .column("kernel", &KernelRow::kernel, "name", "name of the kernel in its module")
///           .column("tenant", &KernelRow::tenant, "index", "tenant that launched the kernel")
///           .column("start", &KernelRow::start, "fs", "when its first block started");
///       }
///     };
///
/// Members: bool, std::uint32_t, std::uint64_t, std::int64_t, double, Time, std::string.
template <class Row>
class TableOf {
 public:
  TableOf(std::string path, std::string doc) {
    schema_.path = std::move(path);
    schema_.doc = std::move(doc);
    schema_.row_bytes = sizeof(Row);
  }

  template <class M>
  TableOf& column(std::string name, M Row::*member, std::string unit, std::string doc) {
    const Row probe{};
    const auto offset = std::size_t(reinterpret_cast<const char*>(&(probe.*member)) -
                                    reinterpret_cast<const char*>(&probe));
    return add<M>(std::move(name), offset, std::move(unit), std::move(doc));
  }

  /// Declares a column that only some files have: write_table() and GrowingTable are told.
  template <class M>
  TableOf& optional_column(std::string name, M Row::*member, std::string unit, std::string doc) {
    column(std::move(name), member, std::move(unit), std::move(doc));
    schema_.columns.back().is_optional = true;
    return *this;
  }
  /// Declares a column with a member of a struct in the row.
  template <class P, class M>
  TableOf& column(std::string name, P Row::*part, M P::*member, std::string unit, std::string doc) {
    return add<M>(std::move(name), address_in(part, member), std::move(unit), std::move(doc));
  }
  /// Adds a column for each element, named `prefix` and the element's name.
  template <class P, class M, std::size_t N>
  TableOf& columns(const std::string& prefix, const char* const (&names)[N], P Row::*part,
                   std::array<M, N> P::*member, const std::string& unit, const std::string& doc) {
    for (std::size_t i = 0; i < N; ++i)
      add<M>(prefix + names[i], address_in(part, member) + i * sizeof(M), unit, doc);
    return *this;
  }

  const TableSchema& erased() const { return schema_; }

 private:
  template <class P, class M>
  static std::size_t address_in(P Row::*part, M P::*member) {
    const Row probe{};
    return std::size_t(reinterpret_cast<const char*>(&((probe.*part).*member)) -
                       reinterpret_cast<const char*>(&probe));
  }
  template <class M>
  TableOf& add(std::string name, std::size_t offset, std::string unit, std::string doc) {
    schema_.columns.push_back(
        {std::move(name), std::move(unit), std::move(doc), type<M>(), offset});
    return *this;
  }
  template <class M>
  static constexpr TableColumn::Type type() {
    using Type = TableColumn::Type;
    if constexpr (std::is_same_v<M, bool>)
      return Type::boolean;
    else if constexpr (std::is_same_v<M, std::uint32_t>)
      return Type::uint32;
    else if constexpr (std::is_same_v<M, std::uint64_t>)
      return Type::uint64;
    else if constexpr (std::is_same_v<M, std::int64_t>)
      return Type::int64;
    else if constexpr (std::is_same_v<M, double>)
      return Type::real;
    else if constexpr (std::is_same_v<M, Time>)
      return Type::time;
    else {
      static_assert(std::is_same_v<M, std::string>, "not a column type");
      return Type::text;
    }
  }

  TableSchema schema_;
};

template <class Row>
TableOf<Row> table(std::string path, std::string doc) {
  return {std::move(path), std::move(doc)};
}

template <class Row>
const TableSchema& table_schema_of() {
  static const TableSchema schema = Row::schema().erased();
  return schema;
}

/// Columns that a file has.
enum class TableColumns : std::uint8_t { required, all };

template <class Row>
const TableSchema& table_schema_of(TableColumns columns) {
  static const TableSchema required = [] {
    TableSchema schema = table_schema_of<Row>();
    std::erase_if(schema.columns, [](const TableColumn& column) { return column.is_optional; });
    return schema;
  }();
  return columns == TableColumns::all ? table_schema_of<Row>() : required;
}

/// Layout of rows in a file: columns one after another without gaps, and texts of a fixed length.
class PackedRows {
 public:
  PackedRows(const TableSchema& schema,
             const std::function<std::size_t(const TableColumn&)>& text_bytes);

  const std::vector<h5::Member>& members() const { return members_; }
  std::size_t bytes_of_row() const { return bytes_; }
  /// Appends `count` rows, of `schema.row_bytes` each, to `out`.
  void pack(const void* rows, std::size_t count, std::vector<char>& out) const;

 private:
  const TableSchema& schema_;
  std::vector<h5::Member> members_;
  std::size_t bytes_ = 0;
};
/// Writes the documentation of the table and its columns as attributes of the data set.
void describe_table(h5::File& file, const TableSchema& schema);

/// Reads rows of a table, from `first` on, into `rows` (of `schema.row_bytes` each).  Throws a
/// UserError that names a missing or different column.
void read_rows(const h5::File& file, const TableSchema& schema, void* rows, std::size_t count,
               std::size_t first = 0);
/// Returns the number of rows of the table. Throws UserError when the file has no such table, as
/// long as its run has not finished.
std::size_t count_rows(const h5::File& file, const TableSchema& schema);

template <class Row>
std::vector<Row> read_table(const h5::File& file) {
  const TableSchema& schema = table_schema_of<Row>();
  std::vector<Row> rows(count_rows(file, schema));
  read_rows(file, schema, rows.data(), rows.size());
  return rows;
}

}  // namespace lockstep
