/// Exchange between the lanes of a warp: shfl, vote, match, redux, activemask, elect.
///
/// Source: PTX ISA 8.x, "shfl.sync", "vote.sync", "match.sync", "redux.sync", "activemask",
/// "elect.sync".  Lanes that execute the instruction together take part; whether all members are
/// there is decided before.  Each lane gets the outcome among the lanes that its own member mask
/// names - ptxas has the mask applied to a vote's result -, be it one of them or not (undefined in
/// PTX).  If none of them is there: no lane votes or has a value, so that all and uni hold, a
/// match, a reduction and the number of the elected lane are zero, and none is elected.
///
/// Simplified: a value shuffled from a lane that does not take part (undefined in PTX) is zero.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

/// Returns the lane from which lane `self` reads, if it is within the segment.
template <ShuffleMode mode>
LOCKSTEP_INLINE s32 source_lane(s32 self, u32 b, u32 c) {
  const s32 by = static_cast<s32>(b & 31), segment = static_cast<s32>(c >> 8 & 31);
  switch (mode) {
    case ShuffleMode::up:
      return self - by;
    case ShuffleMode::down:
      return self + by;
    case ShuffleMode::bfly:
      return self ^ by;
    case ShuffleMode::idx:
      return (self & segment) | (by & ~segment);
  }
}
template <ShuffleMode mode>
LOCKSTEP_INLINE bool within_segment(s32 self, s32 lane, u32 c) {
  const s32 clamp = static_cast<s32>(c & 31), segment = static_cast<s32>(c >> 8 & 31);
  const s32 last = (self & segment) | (clamp & ~segment);
  return mode == ShuffleMode::up ? lane >= last : lane <= last;
}

/// to[i] = from[lanes[i]], as two-source permutations where the level has them.
LOCKSTEP_INLINE void gather(u32* to, const u32* from, const u32* lanes) {
#ifdef __AVX512F__
  const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);
  for (unsigned half = 0; half < 32; half += 16) {
    const __m512i index = _mm512_loadu_si512(lanes + half);
    _mm512_storeu_si512(to + half, _mm512_permutex2var_epi32(low, index, high));
  }
#else
  LOCKSTEP_LANES to[i] = from[lanes[i]];
#endif
}
template <ShuffleMode mode>
void shuffle(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  const u32* b = source<u32>(instruction, context, 1);
  const u32* c = source<u32>(instruction, context, 2);
  const u32 active = context.active;
  alignas(64) u32 value[32], lanes[32], inside[32], result[32];
  LOCKSTEP_LANES value[i] = (active & lane_bits<u32>.bit[i]) != 0 ? a[i] : 0U;
  LOCKSTEP_LANES {
    const s32 self = static_cast<s32>(i), lane = source_lane<mode>(self, b[i], c[i]);
    const bool within = within_segment<mode>(self, lane, c[i]);
    inside[i] = within ? 1 : 0;
    lanes[i] = static_cast<u32>(within ? lane : self) & 31;
  }
  gather(result, value, lanes);
  const u32* valid = inside;
  store(destination<u32>(instruction, context), result, active);
  write_predicate(instruction, context, 0,
                  lanes_where<u32>([=](unsigned i) { return valid[i] != 0; }));
}

/// Exchanges.  Lanes of one path may name different masks, as 16 lanes do that search a tree node
/// together: each set of lanes with the same mask is an exchange of its own.  `active`: these
/// lanes, `path`: lanes from which they read.
template <Execute exchange>
void among_members(const Instruction& instruction, WarpContext& context) {
  const u32 active = context.active, path = context.path;
  if ((instruction.flags & flag_needs_all_lanes) == 0) {
    context.path = active;
    exchange(instruction, context);
    context.path = path;
    return;
  }
  Operand last;
  for (const Operand source : instruction.source) {
    if (source.valid()) last = source;
  }
  const u32* members = context.row(last);
  for (u32 rest = active; rest != 0; rest &= ~context.active) {
    const u32 mask = members[__builtin_ctz(rest)];
    context.path = mask & active;
    context.active = lanes_where<u32>([=](unsigned i) { return members[i] == mask; }) & rest;
    exchange(instruction, context);
  }
  context.active = active;
  context.path = path;
}

template <VoteMode mode>
void vote(const Instruction& instruction, WarpContext& context) {
  const u32 voters = context.path, yes = read_predicate(instruction, context, 0) & voters;
  if constexpr (mode == VoteMode::ballot) {
    for_lanes(destination<u32>(instruction, context), context.active,
              [=](unsigned) { return yes; });
  } else {
    const bool outcome = mode == VoteMode::all   ? yes == voters
                         : mode == VoteMode::any ? yes != 0
                                                 : yes == voters || yes == 0;
    write_predicate(instruction, context, 0, outcome ? all_lanes : 0);
  }
}

template <Type T>
struct MatchAny {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    u32 result[32];
    for (u32 rest = context.active; rest != 0;) {
      const L value = a[__builtin_ctz(rest)];
      const u32 same = lanes_where<L>([=](unsigned i) { return a[i] == value; });
      for (u32 lanes = same & rest; lanes != 0; lanes &= lanes - 1)
        result[__builtin_ctz(lanes)] = same & context.path;
      rest &= ~same;
    }
    u32* to = destination<u32>(instruction, context);
    for (u32 rest = context.active; rest != 0; rest &= rest - 1)
      to[__builtin_ctz(rest)] = result[__builtin_ctz(rest)];
  }
};
template <Type T>
struct MatchAll {
  static void run(const Instruction& instruction, WarpContext& context) {
    using L = Lane<T>;
    const L* a = source<L>(instruction, context, 0);
    const L value = context.path != 0 ? a[__builtin_ctz(context.path)] : 0;
    const u32 same = lanes_where<L>([=](unsigned i) { return a[i] == value; }) & context.path;
    const u32 result = same == context.path ? same : 0;
    for_lanes(destination<u32>(instruction, context), context.active,
              [=](unsigned) { return result; });
    write_predicate(instruction, context, 0, result != 0 ? all_lanes : 0);
  }
};

template <Type T>
struct MatchAnyAmongMembers {
  static constexpr Execute run = &among_members<&MatchAny<T>::run>;
};
template <Type T>
struct MatchAllAmongMembers {
  static constexpr Execute run = &among_members<&MatchAll<T>::run>;
};

// clang-format off
struct Sum { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return a + b; } };
struct And { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return a & b; } };
struct Or { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return a | b; } };
struct Xor { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return a ^ b; } };
template <class V> struct Least { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return static_cast<V>(b) < static_cast<V>(a) ? b : a; } };
template <class V> struct Most { LOCKSTEP_INLINE static u32 apply(u32 a, u32 b) { return static_cast<V>(a) < static_cast<V>(b) ? b : a; } };
// clang-format on
template <class Op>
void reduce(const Instruction& instruction, WarpContext& context) {
  const u32* a = source<u32>(instruction, context, 0);
  u32 result = context.path != 0 ? a[__builtin_ctz(context.path)] : 0;
  for (u32 rest = context.path & (context.path - 1); rest != 0; rest &= rest - 1)
    result = Op::apply(result, a[__builtin_ctz(rest)]);
  for_lanes(destination<u32>(instruction, context), context.active,
            [=](unsigned) { return result; });
}
Execute select_redux(const SemanticKey& key) {
  const Type type = key.type;
  if (as_unsigned(type) != Type::u32) return nullptr;
  switch (key.atomic) {
    case AtomicOperation::add:
      return type == Type::b32 ? nullptr : &among_members<&reduce<Sum>>;
    case AtomicOperation::min:
      if (type == Type::b32) return nullptr;
      return type == Type::s32 ? &among_members<&reduce<Least<s32>>>
                               : &among_members<&reduce<Least<u32>>>;
    case AtomicOperation::max:
      if (type == Type::b32) return nullptr;
      return type == Type::s32 ? &among_members<&reduce<Most<s32>>>
                               : &among_members<&reduce<Most<u32>>>;
    case AtomicOperation::logical_and:
      return &among_members<&reduce<And>>;
    case AtomicOperation::logical_or:
      return &among_members<&reduce<Or>>;
    case AtomicOperation::logical_xor:
      return &among_members<&reduce<Xor>>;
    default:
      return nullptr;
  }
}

void active_mask(const Instruction& instruction, WarpContext& context) {
  const u32 active = context.active;
  for_lanes(destination<u32>(instruction, context), active, [=](unsigned) { return active; });
}
/// Elects the lowest lane as leader: all lanes get its number, and it alone the predicate.
void elect(const Instruction& instruction, WarpContext& context) {
  const u32 elected = context.path & (0U - context.path);
  const u32 leader = elected != 0 ? static_cast<u32>(__builtin_ctz(elected)) : 0;
  if (instruction.destination[0].valid())
    for_lanes(destination<u32>(instruction, context), context.active,
              [=](unsigned) { return leader; });
  write_predicate(instruction, context, 0, elected);
}

Execute select_shuffle(const SemanticKey& key) {
  if (bytes_of(key.type) != 4) return nullptr;
  switch (static_cast<ShuffleMode>(key.mode)) {
    case ShuffleMode::up:
      return &shuffle<ShuffleMode::up>;
    case ShuffleMode::down:
      return &shuffle<ShuffleMode::down>;
    case ShuffleMode::bfly:
      return &shuffle<ShuffleMode::bfly>;
    case ShuffleMode::idx:
      return &shuffle<ShuffleMode::idx>;
  }
  return nullptr;
}
Execute select_vote(const SemanticKey& key) {
  switch (static_cast<VoteMode>(key.mode)) {
    case VoteMode::all:
      return &among_members<&vote<VoteMode::all>>;
    case VoteMode::any:
      return &among_members<&vote<VoteMode::any>>;
    case VoteMode::uni:
      return &among_members<&vote<VoteMode::uni>>;
    case VoteMode::ballot:
      return &among_members<&vote<VoteMode::ballot>>;
  }
  return nullptr;
}

}  // namespace

Execute select_warp(const SemanticKey& key) {
  switch (key.opcode) {
    case Opcode::shfl:
      return select_shuffle(key);
    case Opcode::vote:
      return select_vote(key);
    case Opcode::match:
      if (key.mode == static_cast<u16>(MatchMode::all))
        return pick<MatchAllAmongMembers, Type::b32, Type::b64>(as_bits(key.type));
      return pick<MatchAnyAmongMembers, Type::b32, Type::b64>(as_bits(key.type));
    case Opcode::redux:
      return select_redux(key);
    case Opcode::activemask:
      return &active_mask;
    case Opcode::elect:
      return &among_members<&elect>;
    default:
      return nullptr;
  }
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
