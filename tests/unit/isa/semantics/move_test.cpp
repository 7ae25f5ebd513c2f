#include "models/isa/cluster.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::move_test {
namespace {

TEST(MoveSemantics, MovesAndSelectionsOfEveryWidth) {
  for (const Type type : {Type::b16, Type::u32, Type::f32, Type::s64, Type::f64}) {
    const Slot slot = slot_of(type);
    expect_lanes(Builder(Opcode::mov, type).from({slot}).to({slot}), {type},
                 [](const LaneInput& in) { return in.row[0]; });
    expect_lanes(Builder(Opcode::selp, type).from({slot, slot, Slot::predicate}).to({slot}),
                 {type, type},
                 [](const LaneInput& in) { return in.predicate[0] ? in.row[0] : in.row[1]; });
    expect_lanes(Builder(Opcode::slct, type, Type::s32).from({slot, slot, Slot::word}).to({slot}),
                 {type, type, Type::s32}, [](const LaneInput& in) {
                   return (in.row[2] >> 31) == 0 ? in.row[0] : in.row[1];
                 });
    for (const bool flush : {false, true})
      expect_lanes(Builder(Opcode::slct, type, Type::f32)
                       .from({slot, slot, Slot::word})
                       .to({slot})
                       .with([=](auto& op) { op.flush = flush; }),
                   {type, type, Type::f32}, [=](const LaneInput& in) {
                     const bool small = flush && (in.row[2] & 0x7f800000) == 0;
                     return small || as_float(in.row[2]) >= 0 ? in.row[0] : in.row[1];
                   });
  }
  expect_lanes(Builder(Opcode::mov, Type::pred).from({Slot::predicate}).to({Slot::predicate}), {},
               [](const LaneInput& in) { return in.predicate[0]; });
}

TEST(MoveSemantics, PackingPutsTheFirstPartLowest) {
  struct Shape {
    Type whole;
    unsigned parts;
  };
  for (const Shape shape : {Shape{Type::b16, 2}, Shape{Type::b32, 2}, Shape{Type::b32, 4},
                            Shape{Type::b64, 2}, Shape{Type::b64, 4}}) {
    const unsigned bits = 8 * bytes_of(shape.whole) / shape.parts;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    expect_lanes(Builder(Opcode::mov_pack, shape.whole)
                     .from(std::vector(shape.parts, Slot::word))
                     .to({slot_of(shape.whole)}),
                 std::vector(shape.parts, Type::u32), [&](const LaneInput& in) {
                   std::uint64_t whole = 0;
                   for (unsigned k = 0; k < shape.parts; ++k)
                     whole |= (in.row[k] & mask) << (bits * k);
                   return whole;
                 });
    Values values(3);
    for (const CpuLevel level : levels()) {
      Instruction instruction;
      ASSERT_TRUE(Builder(Opcode::mov_unpack, shape.whole)
                      .from({slot_of(shape.whole)})
                      .to(std::vector(shape.parts, Slot::word))
                      .bind(instruction, level));
      instruction.destination[0] = Operand();  // "_"
      LaneMachine machine;
      const Lanes input = values.lanes(shape.whole);
      machine.set(0, slot_of(shape.whole), input);
      machine.context.active = 0xfffffffe;
      instruction.execute(instruction, machine.context);
      for (unsigned k = 0; k < shape.parts; ++k) {
        const Lanes part = machine.get(16 + 2 * k, Slot::word);
        EXPECT_EQ(part[0], 0u);
        for (unsigned i = 1; i < warp_size; ++i)
          EXPECT_EQ(part[i], k == 0 ? 0 : input[i] >> (bits * k) & mask) << k << " " << i;
      }
    }
  }
}

TEST(MoveSemantics, UnpackingIntoTheRowsOfTheSource) {
  for (const CpuLevel level : levels()) {
    Instruction instruction;
    ASSERT_TRUE(Builder(Opcode::mov_unpack, Type::b64)
                    .from({Slot::pair})
                    .to({Slot::word, Slot::word})
                    .bind(instruction, level));
    instruction.destination[0] = Operand(Operand::registers, 0);
    instruction.destination[1] = Operand(Operand::registers, 1);
    LaneMachine machine;
    Lanes input;
    for (unsigned i = 0; i < warp_size; ++i) input[i] = std::uint64_t{i + 1} << 32 | (100 + i);
    machine.set(0, Slot::pair, input);
    instruction.execute(instruction, machine.context);
    for (unsigned i = 0; i < warp_size; ++i) {
      EXPECT_EQ(machine.get(0, Slot::word)[i], 100 + i);
      EXPECT_EQ(machine.get(1, Slot::word)[i], i + 1);
    }
  }
}

Lanes read_special(ir::SpecialRegister which, Type type, const WarpIdentity& identity,
                   CpuLevel level) {
  ir::Operation operation;
  operation.opcode = Opcode::mov;
  operation.type = type;
  operation.sources.resize(1);
  operation.sources[0].kind = ir::Operand::Kind::special;
  operation.sources[0].index = static_cast<std::uint32_t>(which);
  operation.destinations.resize(1);
  operation.destinations[0].kind = ir::Operand::Kind::reg;
  Instruction instruction;
  EXPECT_TRUE(bind_semantics(operation, instruction, level));
  instruction.destination[0] = Operand(Operand::registers, 16);
  LaneMachine machine;
  machine.context.identity = &identity;
  instruction.execute(instruction, machine.context);
  return machine.get(16, slot_of(type));
}

TEST(MoveSemantics, ThreadIndicesCountThroughTheBlock) {
  using enum ir::SpecialRegister;
  for (const CpuLevel level : levels())
    for (const std::array<std::uint32_t, 3> block :
         {std::array{256u, 1u, 1u}, std::array{7u, 5u, 9u}, std::array{1u, 1u, 64u},
          std::array{33u, 3u, 2u}})
      for (std::uint32_t warp = 0; warp < 6; ++warp) {
        WarpIdentity identity;
        identity.block_size = block;
        identity.warp_in_block = warp;
        const Lanes x = read_special(tid_x, Type::u32, identity, level);
        const Lanes y = read_special(tid_y, Type::u16, identity, level);
        const Lanes z = read_special(tid_z, Type::u32, identity, level);
        for (unsigned i = 0; i < warp_size; ++i) {
          const std::uint32_t thread = warp * warp_size + i;
          EXPECT_EQ(x[i], thread % block[0]);
          EXPECT_EQ(y[i], thread / block[0] % block[1]);
          EXPECT_EQ(z[i], thread / block[0] / block[1]);
        }
      }
}

TEST(MoveSemantics, OtherSpecialRegisters) {
  using enum ir::SpecialRegister;
  WarpIdentity identity;
  identity.block_size = {64, 2, 3};
  identity.grid_size = {10, 11, 12};
  identity.block_index = {4, 5, 6};
  identity.sm = 7;
  identity.warp_slot = 8;
  identity.sm_count = 80;
  identity.warp_slots = 64;
  identity.grid_id = 0x123456789ab;
  identity.dynamic_shared_bytes = 1000;
  identity.static_shared_bytes = 24;
  identity.clock_cycles = 0xabcdef0123456789;
  identity.global_time_ns = 0x1122334455667788;
  struct Expected {
    ir::SpecialRegister which;
    Type type;
    std::uint64_t value;
  };
  const Expected expected[] = {{ntid_x, Type::u32, 64},
                               {ntid_y, Type::u32, 2},
                               {ntid_z, Type::u16, 3},
                               {nctaid_x, Type::u32, 10},
                               {nctaid_y, Type::u32, 11},
                               {nctaid_z, Type::u32, 12},
                               {ctaid_x, Type::u32, 4},
                               {ctaid_y, Type::u32, 5},
                               {ctaid_z, Type::u32, 6},
                               {warpid, Type::u32, 8},
                               {nwarpid, Type::u32, 64},
                               {smid, Type::u32, 7},
                               {nsmid, Type::u32, 80},
                               {gridid, Type::u64, 0x123456789ab},
                               {clock, Type::u32, 0x23456789},
                               {clock_hi, Type::u32, 0xabcdef01},
                               {clock64, Type::u64, 0xabcdef0123456789},
                               {globaltimer, Type::u64, 0x1122334455667788},
                               {globaltimer_lo, Type::u32, 0x55667788},
                               {globaltimer_hi, Type::u32, 0x11223344},
                               {warp_sz, Type::u32, 32},
                               {dynamic_smem_size, Type::u32, 1000},
                               {total_smem_size, Type::u32, 1024}};
  for (const CpuLevel level : levels()) {
    for (const Expected& e : expected)
      for (const std::uint64_t lane : read_special(e.which, e.type, identity, level))
        EXPECT_EQ(lane, e.value) << static_cast<int>(e.which);
    for (unsigned i = 0; i < warp_size; ++i) {
      const std::uint64_t self = std::uint64_t{1} << i, below = self - 1;
      EXPECT_EQ(read_special(laneid, Type::u32, identity, level)[i], i);
      EXPECT_EQ(read_special(lanemask_eq, Type::u32, identity, level)[i], self);
      EXPECT_EQ(read_special(lanemask_lt, Type::u32, identity, level)[i], below);
      EXPECT_EQ(read_special(lanemask_le, Type::u32, identity, level)[i], below | self);
      EXPECT_EQ(read_special(lanemask_ge, Type::u32, identity, level)[i], 0xffffffff & ~below);
      EXPECT_EQ(read_special(lanemask_gt, Type::u32, identity, level)[i],
                0xffffffff & ~(below | self));
    }
  }
}

TEST(MoveSemantics, SpecialRegistersOfClusters) {
  using enum ir::SpecialRegister;
  WarpIdentity identity;
  identity.grid_size = {12, 6, 4};
  identity.block_index = {10, 3, 2};
  identity.cluster_size = {4, 2, 2};
  identity.is_explicit_cluster = true;
  identity.dynamic_shared_bytes = 1000;
  identity.static_shared_bytes = 24;
  const std::pair<ir::SpecialRegister, std::uint64_t> expected[] = {
      {clusterid_x, 2},      {clusterid_y, 1},       {clusterid_z, 1},
      {nclusterid_x, 3},     {nclusterid_y, 3},      {nclusterid_z, 2},
      {cluster_ctaid_x, 2},  {cluster_ctaid_y, 1},   {cluster_ctaid_z, 0},
      {cluster_nctaid_x, 4}, {cluster_nctaid_y, 2},  {cluster_nctaid_z, 2},
      {cluster_ctarank, 6},  {cluster_nctarank, 16}, {is_explicit_cluster, 1},
      {aggr_smem_size, 2048}};
  for (const CpuLevel level : levels())
    for (const auto& [which, value] : expected)
      for (const std::uint64_t lane : read_special(which, Type::u32, identity, level))
        EXPECT_EQ(lane, value) << static_cast<int>(which);
  const WarpIdentity alone;
  for (const auto& [which, value] : {std::pair{cluster_ctarank, 0u},
                                     {cluster_nctarank, 1u},
                                     {is_explicit_cluster, 0u},
                                     {cluster_nctaid_x, 1u}})
    EXPECT_EQ(read_special(which, Type::u32, alone, levels().front())[0], value);
}

TEST(MoveSemantics, MapaNamesTheSamePlaceInTheBlockOfARank) {
  for (const Type type : {Type::u32, Type::u64})
    for (const std::uint16_t generic : {0, 1})
      expect_lanes(Builder(Opcode::mapa, type)
                       .from({slot_of(type), Slot::word})
                       .to({slot_of(type)})
                       .with([=](auto& op) { op.mode = generic; }),
                   {type, Type::u32}, [=](const LaneInput& in) {
                     const auto address = static_cast<std::uint32_t>(in.row[0]);
                     const auto rank = static_cast<std::uint32_t>(in.row[1]);
                     return ClusterAddress::in_block(address, rank) +
                            (generic != 0 ? shared_window_base : 0);
                   });
}

TEST(MoveSemantics, GetctarankTellsTheBlockOfAnAddress) {
  for (const Type type : {Type::u32, Type::u64})
    expect_lanes(
        Builder(Opcode::getctarank, type).from({slot_of(type), Slot::word}).to({Slot::word}),
        {type, Type::u32}, [=](const LaneInput& in) {
          const auto address = static_cast<std::uint32_t>(in.row[0]) % shared_window_bytes;
          const auto own = static_cast<std::uint32_t>(in.row[1]);
          return ClusterAddress::unpack(static_cast<std::uint32_t>(address)).rank(own);
        });
}

TEST(MoveSemantics, GenericAddressesOfWindows) {
  struct Window {
    Space space;
    std::uint64_t base;
  };
  for (const Window w :
       {Window{Space::shared, shared_window_base},
        Window{Space::shared_cluster, shared_window_base}, Window{Space::local, local_window_base},
        Window{Space::global, 0}, Window{Space::constant, 0}})
    for (const std::uint16_t to : {0, 1})
      for (const Type type : {Type::u64, Type::u32})
        expect_lanes(Builder(Opcode::cvta, type)
                         .from({slot_of(type)})
                         .to({slot_of(type)})
                         .with([=](auto& op) {
                           op.space = w.space;
                           op.mode = to;
                         }),
                     {type}, [=](const LaneInput& in) {
                       return (to != 0 ? in.row[0] - w.base : in.row[0] + w.base) &
                              width_mask(type);
                     });
}

TEST(MoveSemantics, AddressesBelongToSpaces) {
  const std::uint64_t addresses[] = {0,
                                     shared_window_base - 1,
                                     shared_window_base,
                                     shared_window_base + ClusterAddress::block_bytes - 1,
                                     shared_window_base + ClusterAddress::block_bytes,
                                     shared_window_base + shared_window_bytes - 1,
                                     local_window_base,
                                     local_window_base + local_window_bytes - 1,
                                     constant_window_base,
                                     constant_window_base + constant_window_bytes - 1,
                                     parameter_window_base,
                                     parameter_window_base + parameter_window_bytes,
                                     first_global_address,
                                     ~std::uint64_t{0}};
  // The window of kernel parameters lies within that of global memory, the block's own shared
  // memory within that of its cluster.
  const std::string_view expected[] = {"g", "g", "sS", "sS", "S", "S", "l",
                                       "l", "c", "c",  "gp", "g", "g", "g"};
  for (const CpuLevel level : levels())
    for (const auto& [space, letter] : {std::pair{Space::global, 'g'},
                                        {Space::shared, 's'},
                                        {Space::shared_cluster, 'S'},
                                        {Space::local, 'l'},
                                        {Space::constant, 'c'},
                                        {Space::parameter, 'p'}}) {
      Instruction instruction;
      const Space tested = space;
      ASSERT_TRUE(Builder(Opcode::isspacep, Type::b64)
                      .from({Slot::pair})
                      .to({Slot::predicate})
                      .with([=](auto& op) { op.space = tested; })
                      .bind(instruction, level));
      LaneMachine machine;
      Lanes input{};
      for (unsigned i = 0; i < std::size(addresses); ++i) input[i] = addresses[i];
      machine.set(0, Slot::pair, input);
      instruction.execute(instruction, machine.context);
      for (unsigned i = 0; i < std::size(addresses); ++i)
        EXPECT_EQ(machine.predicates[4] >> i & 1,
                  expected[i].find(letter) != std::string_view::npos ? 1u : 0u)
            << letter << " " << std::hex << addresses[i];
    }
}

}  // namespace
}  // namespace lockstep::isa::test::move_test
