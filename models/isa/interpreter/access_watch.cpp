#include "models/isa/interpreter/access_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/isa/atomic.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/matrix/matrix_rows.hpp"

namespace lockstep::isa {
namespace {

AccessKind kind_of(Category category) {
  switch (category) {
    case Category::load:
    case Category::copy:
    case Category::phase_wait:
      return AccessKind::load;
    case Category::store:
      return AccessKind::store;
    default:
      return AccessKind::atomic;
  }
}

/// Returns the type of a store's elements; an untyped element may be a float.
Type stored_float(Type type) {
  if (type == Type::b32) return Type::f32;
  if (type == Type::b64) return Type::f64;
  return is_float(type) ? type : Type::none;
}

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2;
}
Type single(Type type) {
  return type == Type::f16x2 ? Type::f16 : type == Type::bf16x2 ? Type::bf16 : type;
}

double magnitude(Type type, std::uint64_t bits) {
  const double low = std::fabs(float_value(type, bits));
  return is_pair(type) ? std::max(low, std::fabs(float_value(type, bits >> 16))) : low;
}

float finite(float magnitude) {
  return magnitude <= std::numeric_limits<float>::max() ? magnitude : 0;
}

}  // namespace

void AccessWatch::access(const InterpretedWarp& warp, const Instruction& instruction,
                         std::uint32_t active) {
  block_.proxies_.access(warp, instruction, active);
  if (moves_matrices(instruction)) return block_.races_ ? matrices(warp, instruction) : void();
  if (block_.races_) races(warp, warp.paths.pc(), instruction, active);
  if (block_.state_.floats != nullptr) floats(warp, instruction, active);
}

void AccessWatch::addition(const InterpretedWarp& warp, const Instruction& instruction,
                           unsigned lane, std::uint64_t address) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type);
  for (unsigned e = 0; e < fields.elements; ++e) {
    std::uint64_t added = 0, before = 0;
    std::memcpy(&added, block_.row(warp, instruction.source[1 + e]) + (size == 8 ? 2 * lane : lane),
                size);
    const std::byte* place = block_.state_.memory.find(address + e * size, size);
    if (place == nullptr) return;  // the access itself fails soon
    std::memcpy(&before, place, size);
    const std::uint64_t sum = apply(AtomicOperation::add, fields.type, before, added, 0);
    block_.state_.floats->add((address + e * size) / 4 * 4, single(fields.type),
                              magnitude(fields.type, added), magnitude(fields.type, sum));
  }
}

void AccessWatch::stores(const InterpretedWarp& warp, const Instruction& instruction,
                         std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type), stride = fields.register_bytes == 8 ? 2 : 1;
  const Type type = stored_float(fields.type), kept = single(type);
  for (unsigned e = 0; e < fields.elements; ++e) {
    const std::uint32_t* values = block_.row(warp, instruction.source[1 + e]);
    for_each_lane(active, [&](unsigned lane) {
      const std::uint64_t address = block_.address_of(warp, instruction, lane) + e * size;
      if (address < first_global_address) return;
      float largest = 0;
      if (type == Type::f32) {
        largest = finite(std::fabs(std::bit_cast<float>(values[stride * lane])));
      } else if (type != Type::none) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, values + stride * lane, size);
        largest = finite(static_cast<float>(magnitude(type, bits)));
      }
      block_.state_.floats->store(address / 4 * 4, kept, largest);
      if (size == 8 && type == Type::none)
        block_.state_.floats->store(address / 4 * 4 + 4, type, 0);
    });
  }
}

void AccessWatch::floats(const InterpretedWarp& warp, const Instruction& instruction,
                         std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  const unsigned size = bytes_of(fields.type), bytes = size * fields.elements;
  const bool is_sum = adds_floats(instruction);
  if (is_sum && (fields.space == Space::shared ||
                 block_.state_.floats->uses_result(block_.state_.program, warp.paths.pc())))
    block_.state_.floats->use_sum(fields.type);
  if (fields.space != Space::global && fields.space != Space::generic) return;
  if (instruction.category == Category::store) return stores(warp, instruction, active);
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    if (address < first_global_address) {
      if (is_sum) block_.state_.floats->use_sum(fields.type);
    } else if (instruction.category == Category::load) {
      block_.state_.floats->load(address, bytes);
    } else if (is_sum) {
      addition(warp, instruction, lane, address);
    }
  });
}

void AccessWatch::meet(const InterpretedWarp& warp, const std::uint32_t* masks,
                       std::uint32_t lanes) {
  for (std::uint32_t rest = lanes; rest != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t group = (masks[first] & lanes) | 1u << first;
    block_.races_->meet(warp.identity.warp_in_block, group, warp.paths.alive());
    rest &= ~group;
  }
}

/// Watches the rows of matrices, which belong to the lanes that name them; the data of a store are
/// not examined.
void AccessWatch::matrices(const InterpretedWarp& warp, const Instruction& instruction) {
  const SharedRaces::Access access{warp.identity.warp_in_block, warp.paths.pc(),
                                   kind_of(instruction.category), false};
  for (unsigned lane = 0; lane < matrix_rows * instruction.memory.elements; ++lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    if (address + matrix_row_bytes <= block_.shared_.size())
      block_.races_->access(access, lane, static_cast<std::uint32_t>(address), matrix_row_bytes,
                            nullptr);
  }
}

void AccessWatch::races(const InterpretedWarp& warp, std::uint32_t pc,
                        const Instruction& instruction, std::uint32_t active) {
  const MemoryFields& fields = instruction.memory;
  // Addresses of a cluster without a rank's code belong to the block itself; those of other blocks
  // only order.
  const bool is_shared = fields.space == Space::shared || fields.space == Space::shared_cluster;
  const bool is_generic = fields.space == Space::generic;
  const unsigned size = bytes_of(fields.type);
  const SharedRaces::Access access{
      warp.identity.warp_in_block, pc, kind_of(instruction.category),
      instruction.category == Category::atomic || fields.ordering != Ordering::weak};
  if (!is_shared && !(is_generic || (access.is_strong && fields.space == Space::global))) return;
  const auto in_shared = [&](std::uint64_t address) {
    return is_shared || (is_generic && address - shared_window_base < shared_window_bytes);
  };
  const auto place_of_lane = [&](std::uint64_t address) {
    const std::uint64_t window = is_generic ? shared_window_base : 0;
    return in_shared(address) ? SharedRaces::shared_place | (address - window) : address;
  };
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    if (access.is_strong) block_.races_->before_strong(access, place_of_lane(address));
    const auto offset = static_cast<std::uint32_t>(place_of_lane(address));
    const bool is_there =
        in_shared(address) &&
        offset < block_.shared_.size();  // an access outside fails by itself later
    if (!is_there) return;
    std::array<std::byte, 32> value{};
    for (unsigned e = 0; e < fields.elements && access.kind == AccessKind::store; ++e)
      std::memcpy(value.data() + std::size_t{e} * size,
                  block_.row(warp, instruction.source[e + 1]) +
                      (fields.register_bytes == 8 ? 2 * lane : lane),
                  size);
    block_.races_->access(access, lane, offset, size * fields.elements,
                          access.kind == AccessKind::store ? value.data() : nullptr);
  });
  if (!access.is_strong) return;
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t address = block_.address_of(warp, instruction, lane);
    const bool releases = in_shared(address) || fields.ordering == Ordering::is_volatile ||
                          fields.ordering == Ordering::release ||
                          fields.ordering == Ordering::acq_rel || fields.ordering == Ordering::sc;
    block_.races_->after_strong(access, place_of_lane(address), releases);
  });
}

}  // namespace lockstep::isa
