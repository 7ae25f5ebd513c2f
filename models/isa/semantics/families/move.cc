/// Selection, moves, packing and addresses.
///
/// Source: PTX ISA 8.x, "selp", "slct", "mov", "cvta", "isspacep", "Special Registers".
///
/// Simplified: the x, y and z of a thread are computed from its lane each time they are read.
#include <algorithm>

#include "models/isa/cluster.hpp"
#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

template <Type T>
struct Move {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    for_lanes(destination<L>(instruction, context), context.active,
              [=](unsigned i) { return a[i]; });
  }
};
void move_predicate(const Instruction& instruction, WarpContext& context) {
  write_predicate(instruction, context, 0, read_predicate(instruction, context, 0));
}

template <Type T>
struct SelectByPredicate {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const L mask = read_predicate(instruction, context, 0);
    for_lanes(destination<L>(instruction, context), context.active,
              [=](unsigned i) { return (mask & lane_bits<L>.bit[i]) != 0 ? a[i] : b[i]; });
  }
};
/// slct: a if c >= 0, else b; -0 counts as 0, NaN selects b.
template <Type T>
struct SelectBySign {
  template <bool real>
  static void choose(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const L* b = source<L>(instruction, context, 1);
    const u32* c = source<u32>(instruction, context, 2);
    const bool flush = (instruction.detail & detail_bits::flush) != 0;
    for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) {
      const u32 bits = flush && (c[i] & 0x7f800000) == 0 ? 0U : c[i];
      const bool first = real ? float_of(bits) >= 0.0F : static_cast<s32>(bits) >= 0;
      return first ? a[i] : b[i];
    });
  }
  static constexpr Execute run = &choose<false>;
  static constexpr Execute run_real = &choose<true>;
};

/// The parts of a value, lowest first, and back.  Everything is read before anything is written.
template <Type Whole, unsigned parts>
void pack(const Instruction& instruction, WarpContext& context) {
  using L = Lane<Whole>;
  constexpr unsigned bits = 8 * bytes_of(Whole) / parts;
  const u32* part[parts];
  for (unsigned k = 0; k < parts; ++k) part[k] = source<u32>(instruction, context, k);
  for_lanes_staged(destination<L>(instruction, context), context.active, [&](unsigned i) {
    L whole = 0;
    for (unsigned k = 0; k < parts; ++k)
      whole |= static_cast<L>(part[k][i] & (all_lanes >> (32 - bits))) << (bits * k);
    return whole;
  });
}
template <Type Whole, unsigned parts>
void unpack(const Instruction& instruction, WarpContext& context) {
  using L = Lane<Whole>;
  constexpr unsigned bits = 8 * bytes_of(Whole) / parts;
  alignas(64) L whole[32];
  __builtin_memcpy(whole, source<L>(instruction, context, 0), sizeof whole);
  for (unsigned k = 0; k < parts; ++k) {
    if (!instruction.destination[k].valid()) continue;
    const L* from = whole;
    for_lanes(destination<u32>(instruction, context, k), context.active, [=](unsigned i) {
      return static_cast<u32>(from[i] >> (bits * k)) & (all_lanes >> (32 - bits));
    });
  }
}
Execute select_pack(const SemanticKey& key) {
  const bool packs = key.opcode == Opcode::mov_pack;
  const unsigned parts = packs ? key.sources : key.destinations;
  switch (bytes_of(key.type) * 10 + parts) {
    case 22:
      return packs ? &pack<Type::b16, 2> : &unpack<Type::b16, 2>;
    case 42:
      return packs ? &pack<Type::b32, 2> : &unpack<Type::b32, 2>;
    case 44:
      return packs ? &pack<Type::b32, 4> : &unpack<Type::b32, 4>;
    case 82:
      return packs ? &pack<Type::b64, 2> : &unpack<Type::b64, 2>;
    case 84:
      return packs ? &pack<Type::b64, 4> : &unpack<Type::b64, 4>;
    default:
      return nullptr;
  }
}

/// Writes thread coordinates: lane 0's by division, the others row by row of the block.
void thread_index(const WarpIdentity& identity, unsigned axis, u32* result) {
  const u32 width = identity.block_size[0], height = identity.block_size[1];
  const u32 first = identity.warp_in_block * warp_size;
  u32 at[3] = {first % width, first / width % height, first / width / height};
  const u32 step = axis == 0;
  if (width - at[0] >= warp_size) {  // all lanes are in one row
    LOCKSTEP_LANES result[i] = at[axis] + step * i;
    return;
  }
  for (unsigned lane = 0; lane < warp_size;) {
    const unsigned lanes = std::min(warp_size - lane, width - at[0]);
    for (unsigned i = 0; i < lanes; ++i) result[lane + i] = at[axis] + step * i;
    lane += lanes;
    at[0] = 0;
    if (++at[1] == height) {
      at[1] = 0;
      ++at[2];
    }
  }
}
constexpr u32 lane_mask(ir::SpecialRegister which, unsigned lane) {
  const u32 self = 1U << lane, below = self - 1;
  switch (which) {
    case ir::SpecialRegister::lanemask_eq:
      return self;
    case ir::SpecialRegister::lanemask_le:
      return below | self;
    case ir::SpecialRegister::lanemask_lt:
      return below;
    case ir::SpecialRegister::lanemask_ge:
      return ~below;
    default:
      return ~(below | self);
  }
}
/// Shared memory of a block besides its own, since compute capability 8.0.
constexpr u32 system_shared_bytes = 1024;

/// Returns the value of a special register of clusters.
u64 cluster_special(const WarpIdentity& identity, ir::SpecialRegister which) {
  using enum ir::SpecialRegister;
  const auto axis = [which](ir::SpecialRegister first) {
    return static_cast<unsigned>(which) - static_cast<unsigned>(first);
  };
  const auto& size = identity.cluster_size;
  const auto& block = identity.block_index;
  switch (which) {
    case clusterid_x:
    case clusterid_y:
    case clusterid_z:
      return block[axis(clusterid_x)] / size[axis(clusterid_x)];
    case nclusterid_x:
    case nclusterid_y:
    case nclusterid_z:
      return identity.grid_size[axis(nclusterid_x)] / size[axis(nclusterid_x)];
    case cluster_ctaid_x:
    case cluster_ctaid_y:
    case cluster_ctaid_z:
      return block[axis(cluster_ctaid_x)] % size[axis(cluster_ctaid_x)];
    case cluster_nctaid_x:
    case cluster_nctaid_y:
    case cluster_nctaid_z:
      return size[axis(cluster_nctaid_x)];
    case cluster_ctarank:
      return block[0] % size[0] + size[0] * (block[1] % size[1] + size[1] * (block[2] % size[2]));
    case cluster_nctarank:
      return size[0] * size[1] * size[2];
    case is_explicit_cluster:
      return identity.is_explicit_cluster ? 1 : 0;
    default:
      return 0;
  }
}
/// Returns the value of a special register that is equal for all lanes of the warp.
u64 uniform_special(const WarpIdentity& identity, ir::SpecialRegister which) {
  using enum ir::SpecialRegister;
  switch (which) {
    case ntid_x:
    case ntid_y:
    case ntid_z:
      return identity.block_size[static_cast<unsigned>(which) - static_cast<unsigned>(ntid_x)];
    case ctaid_x:
    case ctaid_y:
    case ctaid_z:
      return identity.block_index[static_cast<unsigned>(which) - static_cast<unsigned>(ctaid_x)];
    case nctaid_x:
    case nctaid_y:
    case nctaid_z:
      return identity.grid_size[static_cast<unsigned>(which) - static_cast<unsigned>(nctaid_x)];
    case warpid:
      return identity.warp_slot;
    case nwarpid:
      return identity.warp_slots;
    case smid:
      return identity.sm;
    case nsmid:
      return identity.sm_count;
    case gridid:
      return identity.grid_id;
    case clock:
      return identity.clock_cycles & all_lanes;
    case clock_hi:
      return identity.clock_cycles >> 32;
    case clock64:
      return identity.clock_cycles;
    case globaltimer:
      return identity.global_time_ns;
    case globaltimer_lo:
      return identity.global_time_ns & all_lanes;
    case globaltimer_hi:
      return identity.global_time_ns >> 32;
    case warp_sz:
      return warp_size;
    case dynamic_smem_size:
      return identity.dynamic_shared_bytes;
    case total_smem_size:
      return identity.dynamic_shared_bytes + identity.static_shared_bytes;
    case aggr_smem_size:
      return identity.dynamic_shared_bytes + identity.static_shared_bytes + system_shared_bytes;
    default:
      return cluster_special(identity, which);
  }
}
template <Type T>
struct MoveSpecial {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const auto which = static_cast<ir::SpecialRegister>(instruction.offset);
    alignas(64) u32 value[32];
    switch (which) {
      case ir::SpecialRegister::tid_x:
      case ir::SpecialRegister::tid_y:
      case ir::SpecialRegister::tid_z:
        thread_index(*context.identity, static_cast<unsigned>(which), value);
        break;
      case ir::SpecialRegister::laneid:
        LOCKSTEP_LANES value[i] = i;
        break;
      case ir::SpecialRegister::lanemask_eq:
      case ir::SpecialRegister::lanemask_le:
      case ir::SpecialRegister::lanemask_lt:
      case ir::SpecialRegister::lanemask_ge:
      case ir::SpecialRegister::lanemask_gt:
        LOCKSTEP_LANES value[i] = lane_mask(which, i);
        break;
      default: {
        const L uniform = static_cast<L>(uniform_special(*context.identity, which));
        for_lanes(destination<L>(instruction, context), context.active,
                  [=](unsigned) { return static_cast<L>(static_cast<Value<T>>(uniform)); });
        return;
      }
    }
    const u32* from = value;
    for_lanes(destination<L>(instruction, context), context.active,
              [=](unsigned i) { return static_cast<L>(static_cast<Value<T>>(from[i])); });
  }
};

struct Window {
  u64 base, bytes;
};
constexpr Window window_of(Space space) {
  switch (space) {
    case Space::shared:
      return {shared_window_base, ClusterAddress::block_bytes};
    case Space::shared_cluster:
      return {shared_window_base, shared_window_bytes};
    case Space::local:
      return {local_window_base, local_window_bytes};
    case Space::constant:
      return {constant_window_base, constant_window_bytes};
    case Space::parameter:
      return {parameter_window_base, parameter_window_bytes};
    default:
      return {0, 0};
  }
}
template <Type T, Space space, bool to>
void add_window(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  constexpr L base = static_cast<L>(window_of(space).base);
  for_lanes(destination<L>(instruction, context), context.active,
            [=](unsigned i) -> L { return to ? a[i] - base : a[i] + base; });
}
template <Type T>
Execute pick_cvta(const SemanticKey& key) {
  const bool to = key.mode != 0;
  if (key.space == Space::shared || key.space == Space::shared_cluster)
    return to ? &add_window<T, Space::shared, true> : &add_window<T, Space::shared, false>;
  if (key.space == Space::local)
    return to ? &add_window<T, Space::local, true> : &add_window<T, Space::local, false>;
  return &Move<T>::run;
}
/// Maps an address to its place in the block of a rank.
template <Type T, bool is_generic>
void map_address(const Instruction& instruction, WarpContext& context) {
  using L = Lane<T>;
  const L* a = source<L>(instruction, context, 0);
  const u32* rank = source<u32>(instruction, context, 1);
  constexpr L base = is_generic ? static_cast<L>(shared_window_base) : 0;
  constexpr u32 most = ClusterAddress::last_code - 1;
  for_lanes_staged(destination<L>(instruction, context), context.active, [=](unsigned i) -> L {
    const u32 code = (rank[i] < most ? rank[i] : most) + 1;
    const u32 offset = static_cast<u32>(a[i]) & (ClusterAddress::block_bytes - 1);
    return base + (code << ClusterAddress::offset_bits | offset);
  });
}
template <Type T>
Execute pick_mapa(const SemanticKey& key) {
  return key.mode != 0 ? &map_address<T, true> : &map_address<T, false>;
}
/// Returns the rank of the block in which an address lies; b: rank of the executing block.
template <Type T>
struct RankOfAddress {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const u32* own = source<u32>(instruction, context, 1);
    for_lanes_staged(destination<u32>(instruction, context), context.active, [=](unsigned i) {
      const u32 place = static_cast<u32>(a[i]) & static_cast<u32>(shared_window_bytes - 1);
      const u32 code = place >> ClusterAddress::offset_bits;
      return code == ClusterAddress::own ? own[i] : code - 1;
    });
  }
};
/// Returns whether an address is global: it lies in no window, or in that of kernel parameters. A
/// block's own shared memory is the shared window without the code of a rank.
template <Type T>
struct IsSpace {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const auto inside = [=](Space space) {
      const Window window = window_of(space);
      return lanes_where<L>([=](unsigned i) { return u64{a[i]} - window.base < window.bytes; });
    };
    const auto space = static_cast<Space>(mode_of(instruction));
    const u32 mask =
        space == Space::global
            ? ~(inside(Space::shared_cluster) | inside(Space::local) | inside(Space::constant))
            : inside(space);
    write_predicate(instruction, context, 0, mask);
  }
};

Execute select_mov(const SemanticKey& key) {
  if (key.special_source)
    return pick<MoveSpecial, Type::b16, Type::b32, Type::b64>(as_bits(key.type));
  if (key.type == Type::pred) return &move_predicate;
  if (bytes_of(key.type) == 0) return nullptr;
  return bytes_of(key.type) == 8 ? &Move<Type::b64>::run : &Move<Type::b32>::run;
}
Execute select_slct(const SemanticKey& key) {
  const bool wide = bytes_of(key.type) == 8;
  if (bytes_of(key.type) < 2) return nullptr;
  if (key.source_type == Type::s32)
    return wide ? SelectBySign<Type::b64>::run : SelectBySign<Type::b32>::run;
  if (key.source_type == Type::f32)
    return wide ? SelectBySign<Type::b64>::run_real : SelectBySign<Type::b32>::run_real;
  return nullptr;
}

}  // namespace

Execute select_move(const SemanticKey& key) {
  const unsigned bytes = bytes_of(key.type);
  switch (key.opcode) {
    case Opcode::mov:
      return select_mov(key);
    case Opcode::mov_pack:
    case Opcode::mov_unpack:
      return select_pack(key);
    case Opcode::selp:
      if (bytes < 2) return nullptr;
      return bytes == 8 ? &SelectByPredicate<Type::b64>::run : &SelectByPredicate<Type::b32>::run;
    case Opcode::slct:
      return select_slct(key);
    case Opcode::cvta:
      return bytes == 4 ? pick_cvta<Type::b32>(key) : pick_cvta<Type::b64>(key);
    case Opcode::mapa:
      return bytes == 4 ? pick_mapa<Type::b32>(key) : pick_mapa<Type::b64>(key);
    case Opcode::getctarank:
      return bytes == 4 ? &RankOfAddress<Type::b32>::run : &RankOfAddress<Type::b64>::run;
    case Opcode::isspacep:
      return bytes == 4 ? &IsSpace<Type::b32>::run : &IsSpace<Type::b64>::run;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
