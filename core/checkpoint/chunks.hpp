#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <span>
#include <streambuf>
#include <vector>

namespace lockstep {

/// State whose length nobody knows before it is written, in chunks: each behind its length, an
/// empty one at the end.  So it streams to where it is kept, whoever reads may pass it over, and
/// neither holds more of it than one chunk.  Where chunks end depends on the bytes alone.
class ChunkWriter final : public std::streambuf {
 public:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  using Sink = std::function<void(std::span<const std::byte>)>;

  explicit ChunkWriter(Sink sink);
  /// What is left, then the empty chunk.
  void finish();

 private:
  int_type overflow(int_type next) override;
  void flush_chunk();

  Sink sink_;
  std::vector<char> chunk_;
};

/// Reads what a ChunkWriter wrote, up to its empty chunk.
class ChunkReader final : public std::streambuf {
 public:
  explicit ChunkReader(std::istream& in) : in_(in) {}
  /// Passes over what has not been read; false if there was something.
  bool finish();

 private:
  int_type underflow() override;

  std::istream& in_;
  std::vector<char> chunk_;
  bool ended_ = false;
};

/// How numbers and chunks stand in a checkpoint, which is little-endian.
void write_number(std::ostream& out, std::uint64_t number);
void write_chunk(std::ostream& out, std::span<const std::byte> chunk);
std::uint64_t read_number(std::istream& in);

}  // namespace lockstep
