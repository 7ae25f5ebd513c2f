#include "tests/properties/random/random_group.hpp"

namespace lockstep::testing {

void RandomGroupStatements::group_statement() {
  switch (pick(8)) {
    case 0:
      return block_exchange();
    case 1:
      return warp_exchange();
    case 2:
      return divergent_barrier();
    case 3:
      return barrier_reduction();
    case 4:
      return named_barriers();
    case 5:
      return shared_sum();
    case 6:
      return matrices();
    default:
      return chance(2) ? exchange() : shuffle();
  }
}

// Values pass to the neighbour through global memory, in the same sector.
void RandomGroupStatements::block_exchange() {
  const std::string row = row_of_words();
  emit("st.global.u32 [%w4" + row + ", " + r());
  emit("bar.sync 0");
  emit(load_operator() + ".u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  emit("xor.b32 " + r() + ", %x6, " + r());
}

void RandomGroupStatements::warp_exchange() {
  if (block_ % 32 != 0) return;
  switch (pick(7)) {
    case 0:
      return emit("vote.sync.ballot.b32 " + r() + ", " + p() + ", -1");
    case 1:
      return emit("vote.sync.any.pred " + p() + ", " + p() + ", -1");
    case 2:
      return emit("vote.sync.all.pred " + p() + ", " + p() + ", -1");
    case 3:
      emit("and.b32 %x0, " + r() + ", 3");
      return emit("match.any.sync.b32 " + r() + ", %x0, -1");
    case 4:
      return emit("redux.sync.add.s32 " + r() + ", " + r() + ", -1");
    case 5:
      return emit("shfl.sync.idx.b32 " + r() + ", " + r() + ", " + r() + ", 31, -1");
    default:
      return emit("shfl.sync.up.b32 " + r() + "|" + p() + ", " + r() + ", " + number(pick(32)) +
                  ", 0, -1");
  }
}

// Both arms meet at the same barrier.
void RandomGroupStatements::divergent_barrier() {
  const std::string other = label(), end = label();
  const std::string row = row_of_words();
  emit("st.global.u32 [%w4" + row + ", " + r());
  emit("@" + p() + " bra " + other);
  statement(2);
  emit("bar.sync 0");
  emit("ld.global.u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  statement(2);
  emit("bra.uni " + end);
  body_ += other + ":\n";
  emit("bar.sync 0");
  emit("ld.global.u32 %x6, [%pw4" + row);
  emit("bar.sync 0");
  statement(2);
  body_ += end + ":\n";
  emit("xor.b32 " + r() + ", %x6, " + r());
}

void RandomGroupStatements::barrier_reduction() {
  switch (pick(3)) {
    case 0:
      return emit("bar.red.popc.u32 " + r() + ", 0, " + p());
    case 1:
      return emit("bar.red.and.pred " + p() + ", 0, " + p());
    default:
      return emit("bar.red.or.pred " + p() + ", 0, " + p());
  }
}

// The first warp waits for what the second leaves, at a barrier of their own.
void RandomGroupStatements::named_barriers() {
  if (block_ % 32 != 0 || block_ < 64) return;
  const std::string second = label(), end = label();
  emit("shr.u32 %x7, %me, 5");
  emit("bar.sync 0");
  emit("setp.ge.u32 %s0, %x7, 2");
  emit("@%s0 bra " + end);
  emit("setp.eq.u32 %s1, %x7, 1");
  emit("@%s1 bra " + second);
  emit("bar.sync 3, 64");
  emit("ld.shared.u32 %x6, [%own+2048]");
  emit("xor.b32 " + r() + ", %x6, " + r());
  emit("bra.uni " + end);
  body_ += second + ":\n";
  emit("st.shared.u32 [%own], " + r());
  emit(chance(2) ? "bar.arrive 3, 64" : "bar.sync 3, 64");
  body_ += end + ":\n";
  emit("bar.sync 0");
}

void RandomGroupStatements::shared_sum() {
  const std::string word = "[sums+" + number(4 * pick(8)) + "]";
  emit("bar.sync 0");
  line("red.shared.add.u32 " + word + ", " + r());
  emit("bar.sync 0");
  emit("ld.shared.u32 %x6, " + word);
  emit("bar.sync 0");
  emit("xor.b32 " + r() + ", %x6, " + r());
}

}  // namespace lockstep::testing
