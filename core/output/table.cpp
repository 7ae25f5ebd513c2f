#include "core/output/table.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "core/output/run_output.hpp"

namespace lockstep {
namespace {

template <class T>
const T& value_at(const char* row, const TableColumn& column) {
  return *reinterpret_cast<const T*>(row + column.offset);
}

h5::Scalar scalar_of(TableColumn::Type type) {
  switch (type) {
    case TableColumn::Type::boolean:
      return h5::Scalar::u8;
    case TableColumn::Type::uint32:
      return h5::Scalar::u32;
    case TableColumn::Type::uint64:
      return h5::Scalar::u64;
    case TableColumn::Type::real:
      return h5::Scalar::f64;
    default:
      return h5::Scalar::i64;
  }
}

void pack_value(const TableColumn& column, const char* row, char* out) {
  if (column.type == TableColumn::Type::text) {
    const auto& text = value_at<std::string>(row, column);
    std::copy(text.begin(), text.end(), out);
  } else if (column.type == TableColumn::Type::time) {
    const std::int64_t time = value_at<Time>(row, column).femtoseconds();
    std::memcpy(out, &time, sizeof time);
  } else {
    std::memcpy(out, row + column.offset, h5::size_of(scalar_of(column.type)));
  }
}

void unpack_value(const TableColumn& column, const h5::Member& member, const char* in, char* row) {
  in += member.offset;
  row += column.offset;
  if (column.type == TableColumn::Type::text) {
    const std::string text(in, std::get<std::size_t>(member.type));
    *reinterpret_cast<std::string*>(row) = text.substr(0, text.find('\0'));
  } else if (column.type == TableColumn::Type::time) {
    std::int64_t time = 0;
    std::memcpy(&time, in, sizeof time);
    *reinterpret_cast<Time*>(row) = Time{time};
  } else {
    std::memcpy(row, in, h5::size_of(scalar_of(column.type)));
  }
}

bool holds(const h5::Member& member, const TableColumn& column) {
  if (column.type == TableColumn::Type::text) {
    const auto* length = std::get_if<std::size_t>(&member.type);
    return length && *length > 0;
  }
  const auto* scalar = std::get_if<h5::Scalar>(&member.type);
  return scalar && *scalar == scalar_of(column.type);
}

}  // namespace

std::size_t count_rows(const h5::File& file, const TableSchema& schema) {
  if (!file.has(schema.path)) {
    throw UserError(file.path(), "has no " + schema.path, "its run has not finished");
  }
  const h5::Shape shape = file.shape(schema.path);
  if (shape.size() != 1)
    throw UserError(file.path(), schema.path + " is no table", "it may be damaged");
  return shape[0];
}

void read_rows(const h5::File& file, const TableSchema& schema, void* rows, std::size_t count,
               std::size_t first) {
  const h5::ElementType type = file.type(schema.path);
  const std::vector<std::byte> data = file.read(schema.path, first, count);
  for (const TableColumn& column : schema.columns) {
    const auto member =
        std::find_if(type.members.begin(), type.members.end(),
                     [&](const h5::Member& candidate) { return candidate.name == column.name; });
    if (column.is_optional && member == type.members.end()) continue;
    if (type.description.empty() || member == type.members.end() || !holds(*member, column)) {
      throw UserError(file.path(), schema.path + " has no column " + column.name,
                      "write the file anew with this version");
    }
    for (std::size_t i = 0; i < count; ++i) {
      unpack_value(column, *member, reinterpret_cast<const char*>(data.data()) + i * type.bytes,
                   static_cast<char*>(rows) + i * schema.row_bytes);
    }
  }
}

PackedRows::PackedRows(const TableSchema& schema,
                       const std::function<std::size_t(const TableColumn&)>& text_bytes)
    : schema_(schema) {
  for (const TableColumn& column : schema.columns) {
    h5::Member member{column.name, scalar_of(column.type), bytes_};
    if (column.type == TableColumn::Type::text) {
      const std::size_t length = text_bytes(column);
      member.type = length;
      bytes_ += length;
    } else {
      bytes_ += h5::size_of(scalar_of(column.type));
    }
    members_.push_back(std::move(member));
  }
}

void PackedRows::pack(const void* rows, std::size_t count, std::vector<char>& out) const {
  const char* row = static_cast<const char*>(rows);
  for (std::size_t i = 0; i < count; ++i, row += schema_.row_bytes) {
    const std::size_t begin = out.size();
    out.resize(begin + bytes_, 0);
    for (std::size_t c = 0; c < members_.size(); ++c)
      pack_value(schema_.columns[c], row, out.data() + begin + members_[c].offset);
  }
}

void describe_table(h5::File& file, const TableSchema& schema) {
  file.set_attribute(schema.path, "description", schema.doc);
  for (const TableColumn& column : schema.columns) {
    file.set_attribute(schema.path, "unit of " + column.name, column.unit);
    file.set_attribute(schema.path, "description of " + column.name, column.doc);
  }
}

void RunOutput::write_table(const TableSchema& schema, const void* rows, std::size_t count) {
  const PackedRows packed(schema, [&](const TableColumn& column) {
    const char* row = static_cast<const char*>(rows);
    std::size_t longest = 1;
    for (std::size_t i = 0; i < count; ++i, row += schema.row_bytes)
      longest = std::max(longest, value_at<std::string>(row, column).size());
    return longest;
  });
  std::vector<char> bytes;
  packed.pack(rows, count, bytes);
  file_.write_table(schema.path, packed.members(), packed.bytes_of_row(), count, bytes.data());
  describe_table(file_, schema);
}

}  // namespace lockstep
