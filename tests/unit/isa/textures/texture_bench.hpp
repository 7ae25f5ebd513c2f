/// Kernels of one fetch each: thread t fetches at its coordinates and writes the four channels.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/isa/semantics/texture_header.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/textures/texture_reference.hpp"

namespace lockstep::isa::texture_test {

inline std::uint32_t log2_of(int value) {
  return value == 1 ? 0 : value == 2 ? 1 : 2;
}

/// The header of a picture whose texels lie at an address.
inline TextureHeader header_of(const Picture& picture, std::uint64_t address) {
  TextureHeader header;
  header.address = address;
  header.width = static_cast<std::uint32_t>(picture.size[0]);
  header.height = header.rows = static_cast<std::uint32_t>(picture.size[1]);
  header.depth = static_cast<std::uint32_t>(picture.size[2]);
  header.pitch = static_cast<std::uint32_t>(picture.row_bytes);
  header.flags = log2_of(picture.bits / 8) << texture_flags::channel_shift |
                 log2_of(picture.channels) << texture_flags::channels_shift |
                 static_cast<std::uint32_t>(picture.kind) << texture_flags::kind_shift;
  if (picture.normalized_read) header.flags |= texture_flags::normalized_read;
  if (picture.linear) header.flags |= texture_flags::linear;
  if (picture.normalized_coordinates) header.flags |= texture_flags::normalized_coordinates;
  for (int d = 0; d < 3; ++d)
    header.flags |= static_cast<std::uint32_t>(picture.addressing[d])
                    << texture_flags::addressing_shift[d];
  std::copy(std::begin(picture.border), std::end(picture.border), header.border);
  return header;
}

/// `fetch`: the instruction, whose results are %f4 to %f7 or %r4 to %r7, its handle %rd2, its
/// coordinates %f1 to %f3 or %r1 to %r3.
inline std::string fetch_kernel(const std::string& fetch, const std::string& before = "") {
  const bool integers = fetch.find("%r4") != std::string::npos;
  const std::string to = integers ? "%r" : "%f", type = integers ? "b32" : "f32";
  return R"(.version 7.8
.target sm_75
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 out, .param .u64 texture, .param .u64 coordinates)
{
.reg .pred %p<4>;
.reg .b16 %rs<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<8>;
.reg .f32 %f<12>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [texture];
ld.param.u64 %rd3, [coordinates];
mov.u32 %r10, %tid.x;
mad.wide.u32 %rd4, %r10, 16, %rd1;
mad.wide.u32 %rd5, %r10, 16, %rd3;
ld.global.v4.b32 {%r1, %r2, %r3, %r9}, [%rd5];
mov.b32 %f1, %r1;
mov.b32 %f2, %r2;
mov.b32 %f3, %r3;
)" + fetch +
         ";\nst.global.v4." + type + " [%rd4], {" + to + "4, " + to + "5, " + to + "6, " + to +
         "7};\nret;\n}\n";
}

/// Four words of coordinates a thread in, four words of results a thread out.
template <class Result, class Coordinate>
std::vector<Result> run_fetches(const std::string& text, const Picture& picture,
                                const std::vector<Coordinate>& coordinates, bool lowered) {
  IsaBench bench(text, lowered);
  const std::uint64_t texels = bench.buffer(picture.bytes);
  const std::uint64_t texture = bench.buffer(std::vector{header_of(picture, texels)});
  const std::uint64_t at = bench.buffer(coordinates);
  const std::uint64_t out = bench.buffer(std::vector<Result>(coordinates.size()));
  bench.run("k", {1, 1, 1}, {static_cast<std::uint32_t>(coordinates.size() / 4), 1, 1}, out,
            texture, at);
  return bench.values<Result>(out, coordinates.size());
}

/// A row, or rows, of single 32-bit floats.
inline Picture floats(const std::vector<float>& values, int width, int height = 1) {
  Picture picture;
  picture.size[0] = width;
  picture.size[1] = height;
  picture.row_bytes = 4 * width;
  picture.bytes.resize(4 * values.size());
  std::memcpy(picture.bytes.data(), values.data(), picture.bytes.size());
  return picture;
}

}  // namespace lockstep::isa::texture_test
