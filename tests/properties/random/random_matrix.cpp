#include "tests/properties/random/random_group.hpp"

namespace lockstep::testing {

// Products in the arithmetic of Volta, which the machine of the tests has.
void RandomGroupStatements::matrices() {
  if (block_ % 32 != 0) return;
  emit("bar.warp.sync -1");
  switch (pick(3)) {
    case 0:
      return product();
    case 1:
      return rows_of_matrices();
    default:
      return emit("movmatrix.sync.aligned.m8n8.trans.b16 " + r() + ", " + r());
  }
}

std::string RandomGroupStatements::fragment(unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + r();
  return text + "}";
}

// Bits of any kind are numbers, subnormal ones, infinities and NaN among them.
void RandomGroupStatements::product() {
  const bool wmma = chance(2), wide = chance(2);
  const unsigned factors = wmma ? 8 : 2, sums = wide ? 8 : 4;
  const std::string type = wide ? "f32" : "f16";
  static constexpr const char* layouts[] = {"row.col", "col.row", "row.row", "col.col"};
  const std::string name = wmma ? "wmma.mma.sync.aligned.row.col.m16n16k16." + type + "." + type
                                : "mma.sync.aligned.m8n8k4." + std::string(one_of(layouts)) + "." +
                                      type + ".f16.f16." + type;
  const std::string to = wide ? "{%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7}" : "{%x0, %x1, %x2, %x3}";
  emit(name + " " + to + ", " + fragment(factors) + ", " + fragment(factors) + ", " +
       fragment(sums));
  emit("xor.b32 " + r() + ", %x0, %x3");
  emit("xor.b32 " + r() + ", %x1, %x2");
}

// Through the threads' own parts of shared memory, of which each is four rows.
void RandomGroupStatements::rows_of_matrices() {
  static constexpr const char* lists[] = {"{%x0}", "{%x0, %x1}", "{%x0, %x1, %x2, %x3}"};
  const unsigned size = pick(3), count = 1U << size;
  const std::string suffix = ".sync.aligned.m8n8.x" + number(count) + (chance(2) ? ".trans" : "") +
                             (chance(3) ? ".b16" : ".shared.b16");
  const std::string place = suffix.find("shared") != std::string::npos ? "%own" : "%gshared";
  if (chance(2)) {
    for (unsigned i = 0; i < count; ++i) emit("mov.b32 %x" + number(i) + ", " + r());
    emit("stmatrix" + suffix + " [" + place + "+" + number(16 * pick(4)) + "], " + lists[size]);
    emit("bar.warp.sync -1");
    emit("ld.shared.u32 " + r() + ", [%own+" + number(4 * pick(16)) + "]");
  } else {
    emit("ldmatrix" + suffix + " " + lists[size] + ", [" + place + "+" + number(16 * pick(4)) +
         "]");
    emit("xor.b32 " + r() + ", %x0, " + (count == 1 ? r() : "%x1"));
  }
  emit("bar.warp.sync -1");
}

}  // namespace lockstep::testing
