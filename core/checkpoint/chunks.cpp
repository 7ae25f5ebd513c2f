#include "core/checkpoint/chunks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ostream>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// No chunk is longer, whatever a damaged file says.
void check_length(std::uint64_t length) {
  if (length > ChunkWriter::chunk_bytes) throw UserError("", "the checkpoint is damaged");
}

}  // namespace

ChunkWriter::ChunkWriter(Sink sink) : sink_(std::move(sink)), chunk_(chunk_bytes) {
  setp(chunk_.data(), chunk_.data() + chunk_.size());
}

void ChunkWriter::flush_chunk() {
  const auto count = static_cast<std::size_t>(pptr() - pbase());
  if (count > 0) sink_(std::as_bytes(std::span(chunk_).first(count)));
  setp(chunk_.data(), chunk_.data() + chunk_.size());
}

void ChunkWriter::finish() {
  flush_chunk();
  sink_({});
}

ChunkWriter::int_type ChunkWriter::overflow(int_type next) {
  flush_chunk();
  if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
  return traits_type::not_eof(next);
}

ChunkReader::int_type ChunkReader::underflow() {
  if (ended_) return traits_type::eof();
  const std::uint64_t length = read_number(in_);
  check_length(length);
  ended_ = length == 0;
  if (ended_) return traits_type::eof();
  chunk_.resize(length);
  in_.read(chunk_.data(), static_cast<std::streamsize>(length));
  if (!in_) throw UserError("", "the checkpoint ends too early");
  setg(chunk_.data(), chunk_.data(), chunk_.data() + length);
  return traits_type::to_int_type(chunk_.front());
}

bool ChunkReader::finish() {
  bool all_was_read = gptr() == egptr();
  while (!ended_) {
    setg(nullptr, nullptr, nullptr);
    all_was_read &= underflow() == traits_type::eof();
  }
  return all_was_read;
}

void write_number(std::ostream& out, std::uint64_t number) {
  static_assert(std::endian::native == std::endian::little);
  out.write(reinterpret_cast<const char*>(&number), sizeof number);
}

void write_chunk(std::ostream& out, std::span<const std::byte> chunk) {
  write_number(out, chunk.size());
  out.write(reinterpret_cast<const char*>(chunk.data()),
            static_cast<std::streamsize>(chunk.size()));
}

std::uint64_t read_number(std::istream& in) {
  std::uint64_t number = 0;
  in.read(reinterpret_cast<char*>(&number), sizeof number);
  if (!in) throw UserError("", "the checkpoint ends too early");
  return number;
}

}  // namespace lockstep
