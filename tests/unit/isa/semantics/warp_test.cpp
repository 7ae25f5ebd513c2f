#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::warp_test {
namespace {

/// Runs on random values under random masks; `check` sees the machine before and after.
using Check = std::function<void(const LaneMachine& before, const LaneMachine& after)>;
void run(const Builder& builder, const Check& check, std::uint64_t value_mask = ~std::uint64_t{0},
         unsigned rounds = 100) {
  Values values(99);
  for (unsigned round = 0; round < rounds; ++round) {
    LaneMachine before;
    for (std::uint32_t& word : before.rows) word = static_cast<std::uint32_t>(values.raw());
    Lanes input;
    for (std::uint64_t& lane : input) lane = values.raw() & value_mask;
    before.set(0, builder.sources.empty() ? Slot::word : builder.sources[0], input);
    for (std::uint32_t& p : before.predicates) p = static_cast<std::uint32_t>(values.raw());
    before.context.active = round == 0 ? 0xffffffff : values.mask();
    if (round == 1) before.predicates[0] = 0xffffffff;
    if (round == 2) before.predicates[0] = 0;
    for (const CpuLevel level : levels()) {
      Instruction instruction;
      ASSERT_TRUE(builder.bind(instruction, level));
      LaneMachine after;
      after.rows = before.rows;
      after.predicates = before.predicates;
      after.context.active = before.context.active;
      instruction.execute(instruction, after.context);
      check(before, after);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}
bool is_active(const LaneMachine& machine, unsigned lane) {
  return (machine.context.active >> lane & 1) != 0;
}
bool predicate(const LaneMachine& machine, unsigned p, unsigned lane) {
  return (machine.predicates[p] >> lane & 1) != 0;
}

TEST(WarpSemantics, ShuffleFollowsTheManual) {
  for (const ShuffleMode mode :
       {ShuffleMode::up, ShuffleMode::down, ShuffleMode::bfly, ShuffleMode::idx}) {
    const Builder builder =
        Builder(Opcode::shfl, Type::b32)
            .from(std::vector(4, Slot::word))
            .to({Slot::word, Slot::predicate})
            .with([=](auto& op) { op.mode = static_cast<std::uint16_t>(mode); });
    run(builder, [&](const LaneMachine& before, const LaneMachine& after) {
      const Lanes a = before.get(0, Slot::word), b = before.get(2, Slot::word),
                  c = before.get(4, Slot::word), old = before.get(16, Slot::word),
                  d = after.get(16, Slot::word);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        if (!is_active(before, lane)) {
          ASSERT_EQ(d[lane], old[lane]);
          ASSERT_EQ(predicate(after, 4, lane), predicate(before, 4, lane));
          continue;
        }
        const int bval = static_cast<int>(b[lane] & 31), cval = static_cast<int>(c[lane] & 31);
        const int mask = static_cast<int>(c[lane] >> 8 & 31), self = static_cast<int>(lane);
        const int max_lane = (self & mask) | (cval & ~mask), min_lane = self & mask;
        int j = 0;
        bool valid = false;
        switch (mode) {
          case ShuffleMode::up:
            j = self - bval;
            valid = j >= max_lane;
            break;
          case ShuffleMode::down:
            j = self + bval;
            valid = j <= max_lane;
            break;
          case ShuffleMode::bfly:
            j = self ^ bval;
            valid = j <= max_lane;
            break;
          case ShuffleMode::idx:
            j = min_lane | (bval & ~mask);
            valid = j <= max_lane;
            break;
        }
        if (!valid) j = self;
        const unsigned from = static_cast<unsigned>(j);
        ASSERT_EQ(d[lane], is_active(before, from) ? a[from] : 0) << "lane " << lane;
        ASSERT_EQ(predicate(after, 4, lane), valid);
      }
    });
  }
}

TEST(WarpSemantics, ShuffleMayWriteItsSource) {
  for (const CpuLevel level : levels()) {
    Instruction instruction;
    ASSERT_TRUE(Builder(Opcode::shfl, Type::b32)
                    .from(std::vector(4, Slot::word))
                    .to({Slot::word})
                    .with([](auto& op) { op.mode = static_cast<std::uint16_t>(ShuffleMode::down); })
                    .bind(instruction, level));
    instruction.destination[0] = instruction.source[0];
    LaneMachine machine;
    Lanes a{}, b{}, c{};
    for (unsigned i = 0; i < warp_size; ++i) {
      a[i] = i;
      b[i] = 16;
      c[i] = 31;
    }
    machine.set(0, Slot::word, a);
    machine.set(2, Slot::word, b);
    machine.set(4, Slot::word, c);
    instruction.execute(instruction, machine.context);
    for (unsigned i = 0; i < warp_size; ++i)
      EXPECT_EQ(machine.get(0, Slot::word)[i], i < 16 ? i + 16 : i);
  }
}

TEST(WarpSemantics, VotesCountOnlyExecutingLanes) {
  for (const VoteMode mode : {VoteMode::all, VoteMode::any, VoteMode::uni})
    run(Builder(Opcode::vote, Type::pred)
            .from({Slot::predicate, Slot::word})
            .to({Slot::predicate})
            .with([=](auto& op) { op.mode = static_cast<std::uint16_t>(mode); }),
        [=](const LaneMachine& before, const LaneMachine& after) {
          unsigned yes = 0, lanes = 0;
          for (unsigned i = 0; i < warp_size; ++i) {
            lanes += is_active(before, i);
            yes += is_active(before, i) && predicate(before, 0, i);
          }
          const bool outcome = mode == VoteMode::all   ? yes == lanes
                               : mode == VoteMode::any ? yes > 0
                                                       : yes == 0 || yes == lanes;
          for (unsigned i = 0; i < warp_size; ++i)
            ASSERT_EQ(predicate(after, 4, i),
                      is_active(before, i) ? outcome : predicate(before, 4, i));
        });
  run(Builder(Opcode::vote, Type::b32)
          .from({Slot::predicate, Slot::word})
          .to({Slot::word})
          .with([](auto& op) { op.mode = static_cast<std::uint16_t>(VoteMode::ballot); }),
      [](const LaneMachine& before, const LaneMachine& after) {
        for (unsigned i = 0; i < warp_size; ++i)
          ASSERT_EQ(after.get(16, Slot::word)[i], is_active(before, i)
                                                      ? before.predicates[0] & before.context.active
                                                      : before.get(16, Slot::word)[i]);
      });
}

TEST(WarpSemantics, MatchFindsEqualLanes) {
  for (const Type type : {Type::b32, Type::b64})
    for (const MatchMode mode : {MatchMode::any, MatchMode::all})
      for (const std::uint64_t value_mask : {std::uint64_t{0}, std::uint64_t{3} << 30})
        run(
            Builder(Opcode::match, type)
                .from({slot_of(type), Slot::word})
                .to({Slot::word, Slot::predicate})
                .with([=](auto& op) { op.mode = static_cast<std::uint16_t>(mode); }),
            [=](const LaneMachine& before, const LaneMachine& after) {
              const Lanes a = before.get(0, slot_of(type)), d = after.get(16, Slot::word);
              for (unsigned i = 0; i < warp_size; ++i) {
                if (!is_active(before, i)) {
                  ASSERT_EQ(d[i], before.get(16, Slot::word)[i]);
                  continue;
                }
                std::uint32_t same = 0;
                for (unsigned j = 0; j < warp_size; ++j)
                  if (is_active(before, j) && a[j] == a[i]) same |= 1U << j;
                const bool everybody = same == before.context.active;
                if (mode == MatchMode::all) {
                  ASSERT_EQ(d[i], everybody ? same : 0);
                  ASSERT_EQ(predicate(after, 4, i), everybody);
                } else {
                  ASSERT_EQ(d[i], same);
                }
              }
            },
            value_mask, 30);
}

TEST(WarpSemantics, ReductionOverExecutingLanes) {
  using enum AtomicOperation;
  for (const Type type : {Type::u32, Type::s32, Type::b32})
    for (const AtomicOperation atomic : {add, min, max, logical_and, logical_or, logical_xor}) {
      const bool arithmetic = atomic == add || atomic == min || atomic == max;
      if (arithmetic == (type == Type::b32)) continue;
      run(Builder(Opcode::redux, type)
              .from({Slot::word, Slot::word})
              .to({Slot::word})
              .with([=](auto& op) { op.atomic = atomic; }),
          [=](const LaneMachine& before, const LaneMachine& after) {
            const Lanes a = before.get(0, Slot::word);
            std::vector<std::int64_t> values;
            for (unsigned i = 0; i < warp_size; ++i)
              if (is_active(before, i))
                values.push_back(is_signed(type) ? signed_value(a[i], type)
                                                 : static_cast<std::int64_t>(a[i]));
            if (values.empty()) return;
            std::int64_t result = values[0];
            for (std::size_t k = 1; k < values.size(); ++k) {
              const std::int64_t v = values[k];
              result = atomic == add           ? result + v
                       : atomic == min         ? std::min(result, v)
                       : atomic == max         ? std::max(result, v)
                       : atomic == logical_and ? result & v
                       : atomic == logical_or  ? result | v
                                               : result ^ v;
            }
            for (unsigned i = 0; i < warp_size; ++i)
              ASSERT_EQ(after.get(16, Slot::word)[i], is_active(before, i)
                                                          ? static_cast<std::uint32_t>(result)
                                                          : before.get(16, Slot::word)[i]);
          });
    }
}

TEST(WarpSemantics, ActiveMaskAndElection) {
  run(Builder(Opcode::activemask, Type::b32).to({Slot::word}),
      [](const LaneMachine& before, const LaneMachine& after) {
        for (unsigned i = 0; i < warp_size; ++i) {
          if (!is_active(before, i)) continue;
          ASSERT_EQ(after.get(16, Slot::word)[i], before.context.active);
        }
      });
  run(Builder(Opcode::elect, Type::b32).from({Slot::word}).to({Slot::word, Slot::predicate}),
      [](const LaneMachine& before, const LaneMachine& after) {
        const auto leader = static_cast<unsigned>(std::countr_zero(before.context.active));
        for (unsigned i = 0; i < warp_size; ++i) {
          if (!is_active(before, i)) continue;
          ASSERT_EQ(after.get(16, Slot::word)[i], leader);
          ASSERT_EQ(predicate(after, 4, i), i == leader);
        }
      });
}

}  // namespace
}  // namespace lockstep::isa::test::warp_test
