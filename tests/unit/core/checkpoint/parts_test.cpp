#include "core/checkpoint/parts.hpp"

#include <gtest/gtest.h>

#include "tests/harness/kept_parts.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::parts_test {
namespace {

constexpr std::size_t full = PartWriter::chunk_bytes;

std::string text_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i * i >> 3);
  return text;
}

/// A part "text" with the chunks of `text`, written in pieces of `piece` bytes.
KeptParts in_chunks(const std::string& text, std::size_t piece) {
  KeptParts kept;
  kept.begin("text");
  PartWriter chunks([&](std::span<const std::byte> chunk) { kept.write(chunk); });
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string next = text.substr(at, piece);
    chunks.sputn(next.data(), static_cast<std::streamsize>(next.size()));
  }
  chunks.finish();
  return kept;
}

std::string read_all(std::streambuf& chunks, std::size_t bytes) {
  std::string text(bytes, '\0');
  text.resize(
      static_cast<std::size_t>(chunks.sgetn(text.data(), static_cast<std::streamsize>(bytes))));
  return text;
}

TEST(Parts, AnyLengthComesBack) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, full - 1, full, full + 1, 3 * full}) {
    const std::string text = text_of(bytes);
    KeptParts kept = in_chunks(text, 100'000);
    PartReader chunks(kept, "text");
    EXPECT_TRUE(read_all(chunks, bytes) == text) << bytes << " bytes";
    EXPECT_TRUE(chunks.all_was_read());
  }
}

TEST(Parts, AreCutByTheBytesNotByTheWrites) {
  const std::string text = text_of(2 * full + 5);
  EXPECT_TRUE(in_chunks(text, 1000) == in_chunks(text, text.size()));
}

TEST(Parts, NoChunkIsLongerThanItMayBe) {
  std::vector<std::size_t> sizes;
  KeptParts kept = in_chunks(text_of(2 * full + 5), 77'777);
  for (const auto& chunk : kept.parts["text"]) sizes.push_back(chunk.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{full, full, 5}));
}

TEST(Parts, WhatIsNotReadIsReported) {
  KeptParts kept = in_chunks(text_of(2 * full), full);
  for (const std::size_t bytes : {std::size_t{10}, full, full + 1, 2 * full - 1}) {
    PartReader chunks(kept, "text");
    read_all(chunks, bytes);
    EXPECT_FALSE(chunks.all_was_read()) << bytes;
  }
}

TEST(Parts, ValuesComeBackAndNoOthers) {
  KeptParts kept;
  std::uint64_t number = 7, read = 0;
  save_part(kept, "number", [&](Archive& archive) { archive(number); });
  restore_part(kept, "number", [&](Archive& archive) { archive(read); });
  EXPECT_EQ(read, 7u);
  EXPECT_EQ(message_of([&] { restore_part(kept, "number", [](Archive&) {}); }),
            "number: the checkpoint holds more than this program reads - resume with the program "
            "that wrote it");
  EXPECT_EQ(message_of([&] {
              restore_part(kept, "number", [&](Archive& archive) { archive(read, read); });
            }),
            "number: the checkpoint ends too early - it is damaged: resume from an older one");
}

}  // namespace
}  // namespace lockstep::parts_test
