#include "models/isa/semantics/word_moves.hpp"

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "models/isa/semantics/families.hpp"
#include "models/isa/semantics/lanes.hpp"
#include "models/isa/semantics/whole_access.hpp"

namespace lockstep::isa::LOCKSTEP_LEVEL {
namespace {

template <class Address>
LOCKSTEP_INLINE Address offset_of(const Instruction& instruction, const PlacedBytes& memory) {
  return static_cast<Address>(s64{instruction.offset}) - static_cast<Address>(memory.base);
}

/// Offsets of the lanes' accesses in the memory.  Lanes that are not active have that of one that
/// is.
template <class Address, unsigned access_bytes>
struct Offsets {
  alignas(64) Address of[32];
  bool fit;  ///< all are aligned and within the memory

  LOCKSTEP_INLINE Offsets(const Instruction& instruction, const WarpContext& context,
                          const PlacedBytes& memory) {
    const auto* const base = row<Address>(context, instruction.source[0]);
    const Address more = offset_of<Address>(instruction, memory);
    LOCKSTEP_LANES of[i] = base[i] + more;
    if (context.active != all_lanes) {
      const Address active = context.active, first = of[__builtin_ctz(context.active)];
      LOCKSTEP_LANES of[i] = (active & lane_bits<Address>.bit[i]) != 0 ? of[i] : first;
    }
    // Memories are shorter than half of what an address can say: a sign shows what is outside.
    const auto last = static_cast<Address>(memory.bytes - access_bytes);
    Address low = 0, outside = 0;
    for (const Address offset : of) {
      low |= offset;
      outside |= offset | (last - offset);
    }
    fit = memory.bytes >= access_bytes && memory.base % access_bytes == 0 &&
          low % access_bytes == 0 && outside >> (8 * sizeof(Address) - 1) == 0;
  }
};

/// Lanes that are looked at together: a tile of a matrix often is as wide.
constexpr unsigned group = 8, groups = 32 / group;

template <class Word, unsigned count>
struct VectorOf {
  using Words [[gnu::vector_size(count * sizeof(Word))]] = Word;
};
/// Values of a group; values for each group.
template <class Word>
using Group = typename VectorOf<Word, group>::Words;
template <class Word>
using OfGroups = typename VectorOf<Word, groups>::Words;

template <class Vector>
LOCKSTEP_INLINE bool is_zero(const Vector& values) {
#if defined(__AVX__)
  if constexpr (sizeof values == 32) {
    const auto bits = reinterpret_cast<const __m256i&>(values);
    return _mm256_testz_si256(bits, bits) != 0;
  } else if constexpr (sizeof values == 16) {
    const auto bits = reinterpret_cast<const __m128i&>(values);
    return _mm_testz_si128(bits, bits) != 0;
  }
#endif
  auto any = values[0];
  for (unsigned i = 1; i < sizeof values / sizeof any; ++i) any |= values[i];
  return any == 0;
}

/// Accesses of all lanes to words: in each group one behind the other, or in each group the same.
template <class Address, unsigned word_bytes>
struct Regular {
  bool is_run, is_one;
  OfGroups<Address> offset;  ///< offset of the first word of each group in the memory

  LOCKSTEP_INLINE Regular(const Instruction& instruction, const WarpContext& context,
                          const PlacedBytes& memory) {
    const auto* const base = row<Address>(context, instruction.source[0]);
    const OfGroups<Address> first = {base[0], base[group], base[2 * group], base[3 * group]};
    constexpr Group<Address> steps = {0, 1, 2, 3, 4, 5, 6, 7};
    Group<Address> apart{}, different{};
    _Pragma("GCC unroll 4") for (unsigned g = 0; g < groups; ++g) {
      Group<Address> ahead;
      __builtin_memcpy(&ahead, base + group * g, sizeof ahead);
      ahead -= first[g];
      apart |= ahead ^ steps * word_bytes;
      different |= ahead;
    }
    is_run = is_zero(apart);
    is_one = is_zero(different);
    offset = first + offset_of<Address>(instruction, memory);
  }

  /// Returns whether as many bytes of each group are within the memory, and its words aligned.
  template <unsigned bytes>
  LOCKSTEP_INLINE bool fits(const PlacedBytes& memory) const {
    constexpr Address sign = Address{1} << (8 * sizeof(Address) - 1);
    const auto last = static_cast<Address>(memory.bytes - bytes);
    const OfGroups<Address> outside = (offset | (last - offset)) & sign;  // as in Offsets
    return memory.bytes >= bytes && memory.base % word_bytes == 0 &&
           is_zero(outside | (offset & (word_bytes - 1)));
  }
};

/// The side of a copy that other blocks may look at.
enum class Seen : u8 { neither, from, to };

/// Copies the words of a group that stand one behind the other.
template <class Word, Seen seen>
LOCKSTEP_INLINE void copy_run(std::byte* to, const std::byte* from) {
  constexpr unsigned bytes = group * sizeof(Word);
  const auto place = reinterpret_cast<std::uintptr_t>(seen == Seen::from ? from : to);
  if constexpr (seen == Seen::neither) {
    Group<Word> words;
    __builtin_memcpy(&words, from, bytes);
    __builtin_memcpy(to, &words, bytes);
  } else if (levels::compiled_for >= levels::v3 && place % 16 == 0) {
    Whole<bytes> words;
    if constexpr (seen == Seen::from) {
      words.load(from);
      __builtin_memcpy(to, words.at, bytes);
    } else {
      __builtin_memcpy(words.at, from, bytes);
      words.store(to);
    }
  } else {
    for (unsigned i = 0; i < group; ++i)
      copy_whole<sizeof(Word)>(to + i * sizeof(Word), from + i * sizeof(Word));
  }
}

/// `Memory`: type of an element there; `Register`: of a lane of its row.  Shared memory has 32-bit
/// addresses and is the block's own.
template <class Address, class Memory, class Register, unsigned elements>
struct Move {
  static constexpr unsigned bytes = elements * sizeof(Memory);
  static constexpr bool own = sizeof(Address) == 4;
  static constexpr bool is_row = elements == 1 && sizeof(Memory) == sizeof(Register);

  static bool load(const Instruction& instruction, const WarpContext& context,
                   const PlacedBytes& memory) {
    if constexpr (is_row) {
      if (context.active == all_lanes) {
        const Regular<Address, bytes> regular(instruction, context, memory);
        auto* const to = destination<Register>(instruction, context);
        if (regular.is_run)
          return regular.template fits<group * bytes>(memory) &&
                 load_runs(regular, memory.data, to);
        if (regular.is_one)
          return regular.template fits<bytes>(memory) && load_ones(regular, memory.data, to);
      }
    }
    return load_lanes(instruction, context, memory);
  }

  static bool store(const Instruction& instruction, const WarpContext& context,
                    const PlacedBytes& memory) {
    if constexpr (is_row) {
      if (context.active == all_lanes) {
        const Regular<Address, bytes> regular(instruction, context, memory);
        if (regular.is_run)
          return regular.template fits<group * bytes>(memory) &&
                 store_runs(regular, memory.data, source<Register>(instruction, context, 1));
      }
    }
    return store_lanes(instruction, context, memory);
  }

  static bool has(const Instruction& instruction, const WarpContext& context,
                  const PlacedBytes& memory) {
    if constexpr (is_row) {
      if (context.active == all_lanes) {
        const Regular<Address, bytes> regular(instruction, context, memory);
        if (regular.is_run)
          return regular.template fits<group * bytes>(memory) &&
                 has_runs(regular, memory.data, source<Register>(instruction, context, 1));
      }
    }
    bool all = true;
    const bool fit =
        visit(instruction, context, memory, [&](unsigned lane, const std::byte* place) {
          Whole<bytes> whole;
          whole.load(place);
          for (unsigned e = 0; e < elements; ++e)
            all &= whole.template get<Memory>(e) ==
                   static_cast<Memory>(source<Register>(instruction, context, 1 + e)[lane]);
        });
    return fit && all;
  }

 private:
  static LOCKSTEP_INLINE bool has_runs(const Regular<Address, bytes>& regular,
                                       const std::byte* data, const Register* values) {
    Group<Register> different{};
    _Pragma("GCC unroll 4") for (unsigned g = 0; g < groups; ++g) {
      Group<Register> there, wanted;
      copy_run<Register, own ? Seen::neither : Seen::from>(reinterpret_cast<std::byte*>(&there),
                                                           data + regular.offset[g]);
      __builtin_memcpy(&wanted, values + group * g, sizeof wanted);
      different |= there ^ wanted;
    }
    return is_zero(different);
  }
  static LOCKSTEP_INLINE bool load_runs(const Regular<Address, bytes>& regular,
                                        const std::byte* data, Register* to) {
    _Pragma("GCC unroll 4") for (unsigned g = 0; g < groups; ++g)
        copy_run<Register, own ? Seen::neither : Seen::from>(
            reinterpret_cast<std::byte*>(to + group * g), data + regular.offset[g]);
    return true;
  }
  static LOCKSTEP_INLINE bool load_ones(const Regular<Address, bytes>& regular,
                                        const std::byte* data, Register* to) {
    _Pragma("GCC unroll 4") for (unsigned g = 0; g < groups; ++g) {
      Whole<bytes> whole;
      whole.load(data + regular.offset[g]);
      const Group<Register> values = Group<Register>{} + whole.template get<Register>();
      __builtin_memcpy(to + group * g, &values, sizeof values);
    }
    return true;
  }

  static LOCKSTEP_INLINE bool store_runs(const Regular<Address, bytes>& regular, std::byte* data,
                                         const Register* from) {
    _Pragma("GCC unroll 4") for (unsigned g = 0; g < groups; ++g)
        copy_run<Register, own ? Seen::neither : Seen::to>(
            data + regular.offset[g], reinterpret_cast<const std::byte*>(from + group * g));
    return true;
  }

  /// Calls action(lane, place) for each active lane. Returns false, without a call, if a lane's
  /// access does not fit.
  template <class Action>
  static LOCKSTEP_INLINE bool visit(const Instruction& instruction, const WarpContext& context,
                                    const PlacedBytes& memory, Action action) {
    const Offsets<Address, bytes> offsets(instruction, context, memory);
    if (!offsets.fit) return false;
    for (u32 rest = context.active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      action(lane, memory.data + offsets.of[lane]);
    }
    return true;
  }

  // Not inlined: their arrays would make the frame of the others larger.
  [[gnu::noinline]] static bool load_lanes(const Instruction& instruction,
                                           const WarpContext& context, const PlacedBytes& memory) {
#if defined(__AVX2__)
    if constexpr (is_row && own && bytes == 4) {
      const Offsets<Address, bytes> offsets(instruction, context, memory);
      if (offsets.fit)
        gather(offsets.of, memory.data, destination<u32>(instruction, context), context.active);
      return offsets.fit;
    }
#endif
    Register* to[elements];
    for (unsigned e = 0; e < elements; ++e) to[e] = destination<Register>(instruction, context, e);
    return visit(instruction, context, memory, [&](unsigned lane, const std::byte* place) {
      Whole<bytes> whole;
      whole.load(place);
      for (unsigned e = 0; e < elements; ++e)
        to[e][lane] = static_cast<Register>(whole.template get<Memory>(e));
    });
  }
  [[gnu::noinline]] static bool store_lanes(const Instruction& instruction,
                                            const WarpContext& context, const PlacedBytes& memory) {
    const Register* from[elements];
    for (unsigned e = 0; e < elements; ++e) from[e] = source<Register>(instruction, context, 1 + e);
    return visit(instruction, context, memory, [&](unsigned lane, std::byte* place) {
      Whole<bytes> whole;
      for (unsigned e = 0; e < elements; ++e) whole.set(static_cast<Memory>(from[e][lane]), e);
      whole.store(place);
    });
  }

#if defined(__AVX2__)
  static LOCKSTEP_INLINE void gather(const u32* offsets, const std::byte* data, u32* to,
                                     u32 active) {
    alignas(64) u32 result[32];
    for (unsigned i = 0; i < 32; i += 8) {
      const auto eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(offsets + i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(result + i),
                         _mm256_i32gather_epi32(reinterpret_cast<const int*>(data), eight, 1));
    }
    LOCKSTEP_LEVEL::store(to, result, active);
  }
#endif
};

template <class Memory, class Register, unsigned elements>
Moves moves(const Instruction& instruction) {
  using Shared = Move<u32, Memory, Register, elements>;
  using Global = Move<u64, Memory, Register, elements>;
  const bool is_shared = instruction.memory.space == Space::shared;
  if (instruction.category == Category::load) return {is_shared ? &Shared::load : &Global::load};
  return is_shared ? Moves{&Shared::store, &Shared::has} : Moves{&Global::store, &Global::has};
}

template <class Memory, class Register>
Moves of_elements(const Instruction& instruction) {
  switch (instruction.memory.elements) {
    case 1:
      return moves<Memory, Register, 1>(instruction);
    case 2:
      return moves<Memory, Register, 2>(instruction);
    case 4:
      return moves<Memory, Register, 4>(instruction);
    default:
      return {};
  }
}

}  // namespace

Moves select_moves(const Instruction& instruction) {
  const MemoryFields& fields = instruction.memory;
  const bool is_wide = (instruction.flags & flag_address_wide) != 0;
  const bool is_global = fields.space == Space::global || fields.space == Space::generic;
  if (!instruction.source[0].valid() ||
      (is_global ? !is_wide : fields.space != Space::shared || is_wide))
    return {};
  if (instruction.category != Category::load && instruction.category != Category::store) return {};
  const unsigned size = bytes_of(fields.type), register_bytes = fields.register_bytes;
  if (size == 8) return register_bytes == 8 ? of_elements<u64, u64>(instruction) : Moves{};
  if (register_bytes == 8) return {};
  // A load extends by the sign; registers of 16 bits have zeros above.
  if (is_signed(fields.type) && size < 4 && instruction.category == Category::load) return {};
  if (size == 4) return of_elements<u32, u32>(instruction);
  return size == 2 ? of_elements<u16, u32>(instruction) : of_elements<u8, u32>(instruction);
}

}  // namespace lockstep::isa::LOCKSTEP_LEVEL
