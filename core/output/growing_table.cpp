#include "core/output/growing_table.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/output/run_output.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t rows_per_chunk = 256, bytes_of_index_node = 8 << 10;
constexpr std::uint64_t rows_at_once = 1 << 16;  // rows that are copied at once from an older file

}  // namespace

GrowingTable::GrowingTable(RunOutput& output, const TableSchema& schema, std::size_t text_bytes)
    : schema_(schema),
      packed_(schema, [&](const TableColumn&) { return std::max<std::size_t>(text_bytes, 1); }) {
  series_ = output.file().create_table(schema.path, packed_.members(), packed_.bytes_of_row(),
                                       rows_per_chunk);
  describe_table(output.file(), schema);
}

/// Returns whether rows of this type have the same bytes as those of the table.
bool GrowingTable::holds_these(const h5::ElementType& type) const {
  const auto is_same = [](const h5::Member& a, const h5::Member& b) {
    return a.name == b.name && a.type == b.type && a.offset == b.offset;
  };
  const std::vector<h5::Member>& own = packed_.members();
  return !type.description.empty() && type.bytes == packed_.bytes_of_row() &&
         std::equal(type.members.begin(), type.members.end(), own.begin(), own.end(), is_same);
}

void GrowingTable::take_rows(const h5::File& from) {
  if (!from.has(schema_.path) || count_rows(from, schema_) < rows_ ||
      !holds_these(from.type(schema_.path))) {
    throw UserError(from.path(),
                    "has not the " + std::to_string(rows_) + " rows of " + schema_.path +
                        " that were written before the checkpoint",
                    "name the output of that run with --output, or start it anew");
  }
  for (std::uint64_t row = 0; row < rows_; row += rows_at_once) {
    const std::uint64_t count = std::min(rows_at_once, rows_ - row);
    series_.append(from.read(schema_.path, row, count).data(), count);
  }
}

/// The bound counts the pending rows, the last chunk once more (compressed anew, it may need
/// another place), one more chunk, and nodes of the index.
std::uint64_t GrowingTable::most_bytes() const {
  return (pending_rows() + 2 * rows_per_chunk) * packed_.bytes_of_row() + bytes_of_index_node +
         rows_ / rows_per_chunk;
}

void GrowingTable::flush() {
  if (!has_pending()) return;
  series_.append(pending_.data(), pending_rows());
  series_.flush();
  rows_ += pending_rows();
  pending_.clear();
}

}  // namespace lockstep
