/// A recording whose tables hold anything: steps, places of their data, and blocks, one of which
/// may be of another type or shape than a recording has.
#include <array>
#include <cstring>

#include "core/output/hdf5.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"
#include "tests/fuzz/cursor.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {
namespace {

/// A number that is small, at an edge, or any.
std::uint64_t number(Cursor& cursor) {
  static constexpr std::uint64_t edges[] = {
      0, 1, 16383, 16384, 65536, ~0ull, ~0ull - 1, 1ull << 63, 1ull << 32, 0xffffffff, ~0ull << 14};
  switch (cursor.below(4)) {
    case 0:
      return edges[cursor.below(std::size(edges))];
    case 1:
      return cursor.take<std::uint64_t>();
    default:
      return cursor.below(40);
  }
}

RecordedStep any_step(Cursor& cursor) {
  RecordedStep step;
  step.kind = static_cast<std::uint32_t>(cursor.below(RecordedStep::kinds + 2));
  step.address = 0x100000000 + number(cursor);
  step.bytes = number(cursor);
  step.data = number(cursor);
  step.kernel = static_cast<std::uint32_t>(number(cursor));
  step.stream = static_cast<std::uint32_t>(number(cursor));
  for (std::uint32_t& side : step.blocks) side = static_cast<std::uint32_t>(number(cursor));
  for (std::uint32_t& side : step.threads) side = static_cast<std::uint32_t>(number(cursor));
  step.shared_bytes = static_cast<std::uint32_t>(number(cursor));
  return step;
}

template <class Row>
void write_rows(h5::File& file, const char* path, const std::vector<Row>& rows) {
  h5::Series table = file.create_table(path, Row::members(), sizeof(Row), 1024);
  if (!rows.empty()) table.append(rows.data(), rows.size());
  table.close();
}

void write_words(h5::File& file, const char* path, h5::Scalar type, const h5::Shape& row,
                 std::uint64_t rows, Cursor& cursor) {
  h5::Series series = file.create_series(path, type, row, 64);
  std::uint64_t bytes = h5::size_of(type) * rows;
  for (const std::uint64_t side : row) bytes *= side;
  std::vector<std::uint64_t> words((bytes + 7) / 8);
  for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 16); ++i)
    words[i] = number(cursor);
  if (rows > 0) series.append(words.data(), rows);
  series.close();
}

void write_recording(const std::string& path, Cursor& cursor) {
  using namespace recording_format;
  h5::File file = h5::File::create(path);
  const std::size_t strange = cursor.below(12);  // which of them, if any, is something else
  const h5::Scalar words[] = {h5::Scalar::u8, h5::Scalar::f32, h5::Scalar::u16, h5::Scalar::u64};
  const h5::Scalar other = words[cursor.below(std::size(words))];
  const h5::Shape row = cursor.below(2) == 0 ? h5::Shape{} : h5::Shape{1 + cursor.below(4)};
  std::vector<RecordedStep> table(cursor.below(6));
  for (RecordedStep& step : table) step = any_step(cursor);
  std::vector<RecordedFloats> floats(cursor.below(3));
  for (RecordedFloats& one : floats)
    one = {number(cursor),        number(cursor),        number(cursor),
           cursor.take<double>(), cursor.take<double>(), number(cursor)};
  if (strange == 0)
    write_words(file, steps, other, row, 2, cursor);
  else
    write_rows(file, steps, table);
  if (strange != 1)
    file.write_texts(kernels, {"k", ""});
  else
    write_words(file, kernels, other, row, 2, cursor);
  const auto of = [&](std::size_t which, h5::Scalar type) {
    return strange == which ? other : type;
  };
  write_words(file, recording_format::arguments, of(2, h5::Scalar::u8),
              strange == 2 ? row : h5::Shape{}, cursor.below(60), cursor);
  write_words(file, recording_format::parts, of(3, h5::Scalar::u64),
              strange == 3 ? row : h5::Shape{}, cursor.below(8), cursor);
  write_words(file, blocks, of(4, h5::Scalar::u8), strange == 4 ? row : h5::Shape{block_bytes},
              cursor.below(3), cursor);
  if (strange == 5)
    write_words(file, inexact, other, row, 2, cursor);
  else if (cursor.below(2) == 0)
    write_rows(file, inexact, floats);
  file.set_attribute(steps, "version", strange == 6 ? number(cursor) : version);
  file.close();
}

Workload workload_of(const std::string& path) {
  Workload workload;
  workload.recording = std::make_shared<const Recording>(path, "w.yaml:1:1");
  Buffer buffer;
  buffer.name = "a";
  buffer.type = isa::Type::u32;
  buffer.count = 20'000;
  buffer.address = 0x100000000;
  workload.buffers.push_back(buffer);
  workload.by_address = {0};
  return workload;
}

void look_at(const Workload& workload, std::uint64_t number) {
  const Recording& recording = *workload.recording;
  refused_well([&] { recorded_step(workload, number); });
  refused_well([&] { recorded_collective(workload, number); });
  refused_well([&] {
    const RecordedStep step = recording.step(number);
    if (step.is_launch()) {
      recording.kernel(step);
      recording.arguments(step);
    }
  });
  refused_well([&] {
    const std::optional<RecordedData> data = recording.data_of(number);
    if (!data) return;
    recording.inexact(*data);
    std::vector<std::byte> piece(std::min<std::uint64_t>(data->bytes, 40'000));
    recording.read(*data, data->bytes - piece.size(), piece);
    find_unexpected(workload, 0, 0, *data, piece);
  });
}

}  // namespace

void recording_input(const std::string& bytes) {
  Cursor cursor(bytes);
  const std::string path = scratch_file(".recording");
  write_recording(path, cursor);
  refused_well([&] {
    const Workload workload = workload_of(path);
    for (std::uint64_t step = 0; step <= recorded_steps(workload); ++step) look_at(workload, step);
    for_each_recorded_launch(workload, [](const Step&) {});
  });
}

}  // namespace lockstep
