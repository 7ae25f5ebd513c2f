#include "core/checkpoint/chunks.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::chunks_test {
namespace {

constexpr std::size_t full = ChunkWriter::chunk_bytes;

std::string text_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i * i >> 3);
  return text;
}

/// The chunks of `text`, written in pieces of `piece` bytes.
std::string in_chunks(const std::string& text, std::size_t piece) {
  std::ostringstream out;
  ChunkWriter chunks([&](std::span<const std::byte> chunk) { write_chunk(out, chunk); });
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string next = text.substr(at, piece);
    chunks.sputn(next.data(), static_cast<std::streamsize>(next.size()));
  }
  chunks.finish();
  return out.str();
}

std::string read_all(std::streambuf& chunks, std::size_t bytes) {
  std::string text(bytes, '\0');
  text.resize(
      static_cast<std::size_t>(chunks.sgetn(text.data(), static_cast<std::streamsize>(bytes))));
  return text;
}

TEST(Chunks, AnyLengthComesBack) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, full - 1, full, full + 1, 3 * full}) {
    const std::string text = text_of(bytes);
    std::istringstream in(in_chunks(text, 100'000) + "behind");
    ChunkReader chunks(in);
    EXPECT_TRUE(read_all(chunks, bytes) == text) << bytes << " bytes";
    EXPECT_TRUE(chunks.finish());
    std::string behind;
    in >> behind;
    EXPECT_EQ(behind, "behind");
  }
}

TEST(Chunks, AreCutByTheBytesNotByTheWrites) {
  const std::string text = text_of(2 * full + 5);
  EXPECT_TRUE(in_chunks(text, 1000) == in_chunks(text, text.size()));
}

TEST(Chunks, NoneIsLongerThanItMayBe) {
  std::vector<std::size_t> sizes;
  ChunkWriter chunks([&](std::span<const std::byte> chunk) { sizes.push_back(chunk.size()); });
  const std::string text = text_of(2 * full + 5);
  chunks.sputn(text.data(), static_cast<std::streamsize>(text.size()));
  chunks.finish();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{full, full, 5, 0}));
}

TEST(Chunks, WhatIsNotReadIsPassedOverAndReported) {
  std::istringstream in(in_chunks(text_of(2 * full), full) + "behind");
  ChunkReader chunks(in);
  read_all(chunks, 10);
  EXPECT_FALSE(chunks.finish());
  std::string behind;
  in >> behind;
  EXPECT_EQ(behind, "behind");
}

TEST(Chunks, CutOrDamagedOnesAreRefused) {
  const std::string whole = in_chunks(text_of(100), 100);
  const auto read = [](const std::string& bytes) {
    std::istringstream in(bytes);
    ChunkReader chunks(in);
    read_all(chunks, 100);
    chunks.finish();
  };
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(message_of([&] { read(whole.substr(0, length)); }), "the checkpoint ends too early");
  }
  EXPECT_EQ(message_of([&] { read(std::string(8, '\xff') + whole); }), "the checkpoint is damaged");
}

}  // namespace
}  // namespace lockstep::chunks_test
