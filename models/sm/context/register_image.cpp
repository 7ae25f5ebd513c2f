#include "models/sm/context/register_image.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory/round_up.hpp"

namespace lockstep {

namespace {

constexpr unsigned warp_class_bits = 2, block_class_bits = 4;
constexpr std::size_t vector_bytes = 16;

/// Returns the size of a pattern vector with `bits` bits for each register.
std::size_t bytes_of_vector(unsigned rows, unsigned bits) {
  return round_up(std::size_t{rows} * bits, vector_bytes * 8) / 8;
}

void set_class(std::byte* vector, unsigned row, unsigned bits, unsigned code) {
  vector[row * bits / 8] |= static_cast<std::byte>(code << row * bits % 8);
}

unsigned class_at(const std::byte* vector, unsigned row, unsigned bits) {
  return std::to_integer<unsigned>(vector[row * bits / 8]) >> row * bits % 8 & ((1u << bits) - 1);
}

void put(std::vector<std::byte>& image, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  image.insert(image.end(), from, from + bytes);
}

template <class Value>
const std::byte* get(const std::byte* image, Value& value) {
  std::memcpy(&value, image, sizeof value);
  return image + sizeof value;
}

bool is_global(BlockRegisterClass kind) {
  return kind == BlockRegisterClass::global_uniform || kind == BlockRegisterClass::global_strided;
}

/// Returns how a register that is not global is stored for each warp.
RegisterClass class_of_warps(BlockRegisterClass kind) {
  switch (kind) {
    case BlockRegisterClass::local_uniform:
      return RegisterClass::uniform;
    case BlockRegisterClass::local_strided:
      return RegisterClass::strided;
    default:
      return RegisterClass::random;
  }
}

}  // namespace

std::size_t RegisterShape::image_bytes(unsigned warps) const {
  const std::size_t values = rows * sizeof(LaneValues) + predicates * sizeof(std::uint32_t);
  return warps * (values + bytes_of_vector(rows, block_class_bits));
}

LaneValues RegisterImage::load(const WarpRegisters& warp, unsigned row) const {
  LaneValues values;
  if (row >= shape_.pair_rows) {
    std::memcpy(values.data(), warp.rows + row * isa::warp_size, sizeof values);
  } else {
    const std::uint32_t* pair = warp.rows + (row & ~1u) * isa::warp_size;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) values[lane] = pair[2 * lane + row % 2];
  }
  return values;
}

void RegisterImage::store(const WarpRegisters& warp, unsigned row, const LaneValues& values) const {
  if (row >= shape_.pair_rows) {
    std::memcpy(warp.rows + row * isa::warp_size, values.data(), sizeof values);
  } else {
    std::uint32_t* pair = warp.rows + (row & ~1u) * isa::warp_size;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) pair[2 * lane + row % 2] = values[lane];
  }
}

void RegisterImage::write_predicates(const WarpRegisters& warp,
                                     std::vector<std::byte>& image) const {
  put(image, warp.rows + shape_.rows * isa::warp_size, shape_.predicates * sizeof(std::uint32_t));
}

const std::byte* RegisterImage::read_predicates(const std::byte* image,
                                                const WarpRegisters& warp) const {
  const std::size_t bytes = shape_.predicates * sizeof(std::uint32_t);
  std::memcpy(warp.rows + shape_.rows * isa::warp_size, image, bytes);
  return image + bytes;
}

unsigned RegisterImage::groups_of(const WarpRegisters& warp) const {
  const unsigned lanes = compressor_.group_lanes();
  return (warp.threads + lanes - 1) / lanes;
}

void RegisterImage::write_register(const RegisterPattern& pattern, const LaneValues& values,
                                   std::vector<std::byte>& image) const {
  if (pattern.kind == RegisterClass::random) return put(image, values.data(), sizeof values);
  for (unsigned g = 0; g < pattern.groups; ++g) {
    put(image, &pattern.group[g].base, sizeof(std::uint32_t));
    if (pattern.kind == RegisterClass::strided)
      put(image, &pattern.group[g].stride, sizeof(std::uint32_t));
  }
}

const std::byte* RegisterImage::read_register(const std::byte* image, RegisterClass kind,
                                              const WarpRegisters& warp, unsigned row) const {
  if (kind == RegisterClass::random) {
    LaneValues values;
    image = get(image, values);
    store(warp, row, values);
    return image;
  }
  RegisterPattern pattern;
  for (unsigned g = 0; g < groups_of(warp); ++g) {
    image = get(image, pattern.group[g].base);
    if (kind == RegisterClass::strided) image = get(image, pattern.group[g].stride);
  }
  store(warp, row, compressor_.values_of(pattern));
  return image;
}

void RegisterImage::write(std::span<const WarpRegisters> warps,
                          std::vector<std::byte>& image) const {
  for (const WarpRegisters& warp : warps) {
    for (unsigned row = 0; row < shape_.rows; ++row)
      if (warp.needs(row)) put(image, warp.rows + row * isa::warp_size, sizeof(LaneValues));
    write_predicates(warp, image);
  }
}

const std::byte* RegisterImage::read(const std::byte* image,
                                     std::span<const WarpRegisters> warps) const {
  for (const WarpRegisters& warp : warps) {
    for (unsigned row = 0; row < shape_.rows; ++row) {
      if (!warp.needs(row)) continue;
      std::memcpy(warp.rows + row * isa::warp_size, image, sizeof(LaneValues));
      image += sizeof(LaneValues);
    }
    image = read_predicates(image, warp);
  }
  return image;
}

RegisterImage::Classes RegisterImage::write_compressed(std::span<const WarpRegisters> warps,
                                                       std::vector<std::byte>& image) const {
  Classes classes;
  for (const WarpRegisters& warp : warps) {
    const std::size_t vector = image.size();
    image.resize(vector + bytes_of_vector(shape_.rows, warp_class_bits));
    for (unsigned row = 0; row < shape_.rows; ++row) {
      RegisterClass kind = RegisterClass::dead;
      if (warp.needs(row)) {
        const LaneValues values = load(warp, row);
        const RegisterPattern pattern = compressor_.pattern_of(values, warp.threads);
        write_register(pattern, values, image);
        kind = pattern.kind;
      }
      set_class(image.data() + vector, row, warp_class_bits, static_cast<unsigned>(kind));
      ++classes.of_warps[static_cast<std::size_t>(kind)];
    }
    write_predicates(warp, image);
  }
  return classes;
}

const std::byte* RegisterImage::read_compressed(const std::byte* image,
                                                std::span<const WarpRegisters> warps) const {
  for (const WarpRegisters& warp : warps) {
    const std::byte* vector = image;
    image += bytes_of_vector(shape_.rows, warp_class_bits);
    for (unsigned row = 0; row < shape_.rows; ++row) {
      const auto kind = static_cast<RegisterClass>(class_at(vector, row, warp_class_bits));
      if (kind != RegisterClass::dead) image = read_register(image, kind, warp, row);
    }
    image = read_predicates(image, warp);
  }
  return image;
}

BlockRegisterClass RegisterImage::write_of_block(unsigned row, std::span<const WarpRegisters> warps,
                                                 std::vector<std::byte>& image,
                                                 Classes& classes) const {
  std::vector<LaneValues> values;
  std::vector<RegisterPattern> patterns;
  for (const WarpRegisters& warp : warps) {
    values.push_back(load(warp, row));
    patterns.push_back(compressor_.pattern_of(values.back(), warp.threads));
    ++classes.of_warps[static_cast<std::size_t>(patterns.back().kind)];
  }
  const BlockRegisterClass kind = block_class_of(patterns, compressor_.group_lanes());
  if (is_global(kind)) {
    const RegisterPattern::Group& first = patterns.front().group.front();
    put(image, &first.base, sizeof first.base);
    if (kind == BlockRegisterClass::global_strided) put(image, &first.stride, sizeof first.stride);
    return kind;
  }
  for (std::size_t w = 0; w < warps.size(); ++w) {
    patterns[w].kind = class_of_warps(kind);
    write_register(patterns[w], values[w], image);
  }
  return kind;
}

RegisterImage::Classes RegisterImage::write_block(std::span<const WarpRegisters> warps,
                                                  std::vector<std::byte>& image) const {
  Classes classes;
  const std::size_t vector = image.size();
  image.resize(vector + bytes_of_vector(shape_.rows, block_class_bits));
  for (unsigned row = 0; row < shape_.rows; ++row) {
    BlockRegisterClass kind = BlockRegisterClass::dead;
    if (std::any_of(warps.begin(), warps.end(), [&](const auto& w) { return w.needs(row); })) {
      kind = write_of_block(row, warps, image, classes);
    } else {
      classes.of_warps[0] += static_cast<std::uint32_t>(warps.size());
    }
    set_class(image.data() + vector, row, block_class_bits, static_cast<unsigned>(kind));
    ++classes.of_blocks[static_cast<std::size_t>(kind)];
  }
  for (const WarpRegisters& warp : warps) write_predicates(warp, image);
  return classes;
}

const std::byte* RegisterImage::read_block(const std::byte* image,
                                           std::span<const WarpRegisters> warps) const {
  const std::byte* vector = image;
  image += bytes_of_vector(shape_.rows, block_class_bits);
  for (unsigned row = 0; row < shape_.rows; ++row) {
    const auto kind = static_cast<BlockRegisterClass>(class_at(vector, row, block_class_bits));
    if (kind == BlockRegisterClass::dead) continue;
    if (!is_global(kind)) {
      for (const WarpRegisters& warp : warps)
        image = read_register(image, class_of_warps(kind), warp, row);
      continue;
    }
    std::uint32_t base = 0, stride = 0;
    image = get(image, base);
    if (kind == BlockRegisterClass::global_strided) image = get(image, stride);
    for (const WarpRegisters& warp : warps) {
      LaneValues values;
      for (std::uint32_t& value : values) {
        value = base;
        base += stride;
      }
      store(warp, row, values);
    }
  }
  for (const WarpRegisters& warp : warps) image = read_predicates(image, warp);
  return image;
}

}  // namespace lockstep
