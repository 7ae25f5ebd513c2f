#include "core/output/superblock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace lockstep {
namespace {

constexpr std::size_t superblock_bytes = 48;
constexpr std::size_t flags_at = 11, end_at = 28;
constexpr std::size_t checksum_at = 44;
constexpr char signature_and_version[] = "\x89HDF\r\n\x1a\n\x03\x08";

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

/// The checksum of all metadata of HDF5, for a length that is not a multiple of 12.
/// Source: Bob Jenkins, lookup3.c, hashlittle (public domain).
std::uint32_t metadata_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size()), b = a, c = a;
  const auto mix = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int bits) {
    x -= z;
    x ^= std::rotl(z, bits);
    z += y;
  };
  std::size_t at = 0;
  for (; at + 12 < bytes.size(); at += 12) {
    a += word_at(bytes, at);
    b += word_at(bytes, at + 4);
    c += word_at(bytes, at + 8);
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  std::array<std::uint8_t, 12> rest{};
  std::memcpy(rest.data(), &bytes[at], bytes.size() - at);
  a += word_at(rest, 0);
  b += word_at(rest, 4);
  c += word_at(rest, 8);
  const auto finish = [](std::uint32_t& x, std::uint32_t y, int bits) {
    x ^= y;
    x -= std::rotl(y, bits);
  };
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

/// Reads the superblock. Returns false if there is none of version 3.
bool read_superblock(int file, std::array<std::uint8_t, superblock_bytes>& block) {
  if (pread(file, block.data(), block.size(), 0) != ssize_t(block.size())) return false;
  return std::memcmp(block.data(), signature_and_version, sizeof signature_and_version - 1) == 0;
}

}  // namespace

bool publish_superblock(int file, std::uint64_t end) {
  std::array<std::uint8_t, superblock_bytes> block{};
  if (!read_superblock(file, block)) return false;
  block[flags_at] = 0;
  std::memcpy(&block[end_at], &end, sizeof end);
  const std::uint32_t sum = metadata_checksum(std::span(block).first(checksum_at));
  std::memcpy(&block[checksum_at], &sum, sizeof sum);
  return pwrite(file, block.data(), block.size(), 0) == ssize_t(block.size());
}

bool is_marked_as_written(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<std::uint8_t, superblock_bytes> block{};
  const bool marked = read_superblock(file, block) && block[flags_at] != 0;
  close(file);
  return marked;
}

}  // namespace lockstep
