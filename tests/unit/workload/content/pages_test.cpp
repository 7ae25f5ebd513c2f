// What every generator promises: pieces read in any order are those of the whole.

#include <algorithm>

#include "tests/unit/workload/content/content_bytes.hpp"

namespace lockstep::pages_test {
namespace {

using Kind = Initializer::Kind;

std::vector<Buffer> samples() {
  std::vector<Buffer> buffers;
  for (const isa::Type type : {isa::Type::u8, isa::Type::s16, isa::Type::u32, isa::Type::s64,
                               isa::Type::f16, isa::Type::bf16, isa::Type::f32, isa::Type::f64}) {
    constexpr std::uint64_t count = 100;
    buffers.push_back(sample::buffer(type, count, Kind::value, 3));
    buffers.push_back(sample::buffer(type, count, Kind::linear, 5, 1));
    buffers.push_back(sample::buffer(type, count, Kind::uniform, 2, 100));
    buffers.push_back(sample::buffer(type, count, Kind::normal, 50, 5));
    buffers.push_back(sample::buffer(type, count, Kind::permutation));
    for (const Kind kind : {Kind::csr_row, Kind::csr_column, Kind::csr_weight}) {
      if (isa::is_float(type) && kind != Kind::csr_weight) continue;
      buffers.push_back(sample::buffer(type, count, kind));
      buffers.back().initial.vertices = 60;
      buffers.back().initial.edges = 90;
      buffers.back().initial.rmat = isa::bytes_of(type) == 4;
    }
  }
  return buffers;
}

TEST(Content, PiecesReadInAnyOrderAreThoseOfTheWhole) {
  for (const Buffer& buffer : samples()) {
    const std::vector<std::byte> whole = sample::bytes_of(buffer);
    const auto content = make_content(buffer);
    const std::uint64_t size = isa::bytes_of(buffer.type);
    for (const std::uint64_t piece : {1, 7, 33}) {
      std::vector<std::byte> pieced(buffer.bytes());
      const std::uint64_t pieces = (buffer.count + piece - 1) / piece;
      for (std::uint64_t p = pieces; p-- > 0;) {
        const std::uint64_t begin = p * piece;
        const std::uint64_t elements = std::min(piece, buffer.count - begin);
        content->read(begin * size, {pieced.data() + begin * size, elements * size});
      }
      ASSERT_EQ(pieced, whole) << element_type_name(buffer.type) << ", kind "
                               << static_cast<int>(buffer.initial.kind);
    }
  }
}

TEST(Content, SeedsGiveDifferentContent) {
  for (Buffer buffer : samples()) {
    const bool random = buffer.initial.kind != Kind::value && buffer.initial.kind != Kind::linear;
    const std::vector<std::byte> before = sample::bytes_of(buffer);
    EXPECT_EQ(sample::bytes_of(buffer), before);
    buffer.initial.seed = 2;
    EXPECT_EQ(sample::bytes_of(buffer) != before, random)
        << element_type_name(buffer.type) << ", kind " << static_cast<int>(buffer.initial.kind);
  }
}

TEST(Content, ZeroNeedsNoGenerator) {
  EXPECT_EQ(make_content(sample::buffer(isa::Type::f32, 4, Kind::zero)), nullptr);
}

}  // namespace
}  // namespace lockstep::pages_test
