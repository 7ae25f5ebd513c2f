#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "models/workload/content/content.hpp"
#include "tests/fuzz/cursor.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t most_elements = 4096;

Buffer buffer_of(Cursor& cursor) {
  using enum isa::Type;
  static constexpr isa::Type types[] = {u8, u16, u32, u64, s8, s16, s32, s64, f16, bf16, f32, f64};
  using Kind = Initializer::Kind;
  static constexpr Kind kinds[] = {Kind::value,      Kind::linear,      Kind::uniform,
                                   Kind::normal,     Kind::permutation, Kind::csr_row,
                                   Kind::csr_column, Kind::csr_weight,  Kind::file};
  Buffer buffer;
  buffer.name = "b";
  buffer.initial.where = "fuzz.yaml:1:1";
  buffer.type = types[cursor.below(std::size(types))];
  buffer.initial.kind = kinds[cursor.below(std::size(kinds))];
  buffer.count = 1 + cursor.take<std::uint16_t>() % most_elements;
  buffer.initial.first = cursor.take<double>();
  buffer.initial.second = cursor.take<double>();
  buffer.initial.seed = cursor.take<std::uint64_t>();
  buffer.initial.vertices = 1 + cursor.take<std::uint16_t>() % most_elements;
  buffer.initial.edges = cursor.take<std::uint16_t>() % most_elements;
  buffer.initial.rmat = cursor.below(2) == 1;
  buffer.initial.file = scratch_file(".bin");
  return buffer;
}

/// The workload reader promises both: no number of a formula is infinite, and a graph fits.
bool is_readable(const Buffer& buffer) {
  const Initializer& initial = buffer.initial;
  const std::uint64_t needed =
      initial.kind == Initializer::Kind::csr_row ? initial.vertices + 1 : initial.edges;
  const bool is_graph = initial.kind == Initializer::Kind::csr_row ||
                        initial.kind == Initializer::Kind::csr_column ||
                        initial.kind == Initializer::Kind::csr_weight;
  return std::isfinite(initial.first) && std::isfinite(initial.second) &&
         (!is_graph || buffer.count >= needed);
}

}  // namespace

/// All at once and piece by piece the content is the same.
void content_input(const std::string& bytes) {
  Cursor cursor(bytes);
  const Buffer buffer = buffer_of(cursor);
  if (!is_readable(buffer)) return;
  std::ofstream(buffer.initial.file, std::ios::binary) << cursor.rest();
  refused_well([&] {
    const std::shared_ptr<const Content> content = make_content(buffer);
    std::vector<std::byte> whole(buffer.bytes()), pieces(buffer.bytes());
    content->read(0, whole);
    const std::size_t step = 3 * isa::bytes_of(buffer.type);
    for (std::size_t at = 0; at < pieces.size(); at += step)
      content->read(at, std::span(pieces).subspan(at, std::min(step, pieces.size() - at)));
    if (whole != pieces) throw std::logic_error("pieces of a buffer differ from the whole");
  });
}

}  // namespace lockstep
