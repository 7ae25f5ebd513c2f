/// Registers of a block, written to memory and read back.
/// Source: 002, sections III and IV.B; preemption.md, sections 3.3, 5 and 17.
#include "models/sm/context/register_image.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::register_image_test {
namespace {

/// Six rows, the first four of them two 64-bit values; three predicates.
constexpr RegisterShape shape{6, 4, 3, 16};
constexpr std::size_t words = (6 + 2) * isa::warp_size;
constexpr std::uint32_t garbage = 0xdeadbea7;

/// Warps of a block with everything that they hold.
struct Block {
  std::vector<std::vector<std::uint32_t>> words_of;
  std::vector<WarpRegisters> warps;

  Block(unsigned count, std::uint64_t needed, std::uint32_t value = garbage)
      : words_of(count, std::vector<std::uint32_t>(words, value)) {
    for (auto& own : words_of) warps.push_back({own.data(), {needed}, isa::warp_size});
  }
  std::uint32_t& at(unsigned warp, unsigned row, unsigned lane) {
    return words_of[warp][row * isa::warp_size + lane];
  }
  std::uint64_t& wide(unsigned warp, unsigned row, unsigned lane) {
    return reinterpret_cast<std::uint64_t*>(&at(warp, row, 0))[lane];
  }
};

enum class Form { plain, compressed, whole };

std::vector<std::byte> write(Form form, const Block& block) {
  const RegisterImage image(shape);
  std::vector<std::byte> bytes;
  if (form == Form::plain) image.write(block.warps, bytes);
  if (form == Form::compressed) image.write_compressed(block.warps, bytes);
  if (form == Form::whole) image.write_block(block.warps, bytes);
  return bytes;
}

const std::byte* read(Form form, const std::byte* bytes, const Block& block) {
  const RegisterImage image(shape);
  if (form == Form::plain) return image.read(bytes, block.warps);
  if (form == Form::compressed) return image.read_compressed(bytes, block.warps);
  return image.read_block(bytes, block.warps);
}

class RegisterImages : public testing::TestWithParam<Form> {};

/// Values of all kinds: random, uniform and strided by warp and by block, with pairs that carry
/// from the low half to the high one.
void fill(Block& block, std::mt19937_64& numbers) {
  const std::uint64_t base = numbers(), stride = numbers() % 2 == 0 ? numbers() : numbers() % 3;
  for (unsigned w = 0; w < block.warps.size(); ++w) {
    for (std::uint32_t& word : block.words_of[w]) word = static_cast<std::uint32_t>(numbers());
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
      const std::uint64_t thread = w * isa::warp_size + lane;
      block.wide(w, 0, lane) = base + thread * stride;
      if (numbers() % 2 == 0) block.wide(w, 2, lane) = thread % 16 * 8;
      block.at(w, 4, lane) = static_cast<std::uint32_t>(base + thread / 16 * stride);
      if (base % 2 == 0) block.at(w, 5, lane) = static_cast<std::uint32_t>(base - thread * stride);
    }
  }
}

TEST_P(RegisterImages, WhatWarpsNeedComesBackAndNothingElse) {
  std::mt19937_64 numbers(7);
  for (unsigned n = 0; n < 500; ++n) {
    const auto count = static_cast<unsigned>(1 + numbers() % 4);
    std::uint64_t needed = numbers() % 64;
    needed = (needed & 0x30) | (needed & 1) * 3 | (needed & 4) * 3;
    Block block(count, needed), back(count, needed);
    fill(block, numbers);
    const std::vector<std::byte> bytes = write(GetParam(), block);
    EXPECT_LE(bytes.size(), shape.image_bytes(count));
    ASSERT_EQ(read(GetParam(), bytes.data(), back), bytes.data() + bytes.size());
    for (unsigned w = 0; w < count; ++w)
      for (unsigned row = 0; row < 7; ++row)
        for (unsigned lane = 0; lane < (row < 6 ? 32u : 3u); ++lane)
          ASSERT_EQ(back.at(w, row, lane),
                    row == 6 || (needed >> row & 1) != 0 ? block.at(w, row, lane) : garbage)
              << "case " << n << ", row " << row << ", lane " << lane;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RegisterImages,
                         testing::Values(Form::plain, Form::compressed, Form::whole),
                         [](const auto& form) -> std::string {
                           if (form.param == Form::plain) return "plain";
                           return form.param == Form::whole ? "whole" : "compressed";
                         });

TEST(RegisterImage, PlainItHoldsTheNeededRowsAndThePredicates) {
  EXPECT_EQ(write(Form::plain, Block(2, 0b110011)).size(), 2 * (4 * 128 + 3 * 4u));
}

/// Addresses: 64 bits, a stride of 8; low and high halves are strided and uniform.
TEST(RegisterImage, AddressesAreCompressedThoughTheirHalvesAlternate) {
  Block block(1, 0b11);
  for (unsigned lane = 0; lane < 32; ++lane) block.wide(0, 0, lane) = 0x7'0000'1000 + lane * 8;
  // A vector of 16 bytes; two groups of base and stride, and of a value; predicates.
  EXPECT_EQ(write(Form::compressed, block).size(), 16 + 2 * 8 + 2 * 4 + 12u);
  EXPECT_EQ(write(Form::whole, block).size(), 16 + 8 + 4 + 12u);
}

/// Four warps of 16 x 16 threads: thread index, row, column and what is the same for all.
TEST(RegisterImage, OverABlockASequenceThroughAllWarpsTakesTwoWords) {
  Block block(4, 0b111111, 5);
  for (unsigned w = 0; w < 4; ++w)
    for (unsigned lane = 0; lane < 32; ++lane) {
      block.wide(w, 0, lane) = 32 * w + lane;
      block.at(w, 4, lane) = 2 * w + lane / 16;
      block.at(w, 5, lane) = lane % 16;
    }
  std::vector<std::byte> bytes;
  const RegisterImage::Classes classes = RegisterImage(shape).write_block(block.warps, bytes);
  using C = BlockRegisterClass;
  const auto count = [&](C kind) { return classes.of_blocks[static_cast<std::size_t>(kind)]; };
  EXPECT_EQ(count(C::global_strided), 1u) << "the low half of the index";
  EXPECT_EQ(count(C::global_uniform), 3u) << "its high half, and the second value";
  EXPECT_EQ(count(C::local_uniform), 1u);
  EXPECT_EQ(count(C::local_strided), 1u);
  constexpr std::size_t groups = 8;
  EXPECT_EQ(bytes.size(), 16 + 8 + 3 * 4 + groups * 4 + groups * 8 + 4 * 12u);
}

}  // namespace
}  // namespace lockstep::register_image_test
