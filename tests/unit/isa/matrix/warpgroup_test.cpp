/// Products of warp groups against those of mma on the same elements, placed in shared memory
/// element by element as PTX describes the layouts.
/// Source: PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions"; modern-isa.md, section
/// 3.4.
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "core/error/error.hpp"
#include "models/isa/matrix/shared_operand.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::warpgroup_test {
namespace {

using enum MatrixElement;
using test::Matrix;

LOCKSTEP_BOTH_FORMS(WarpgroupProducts);

constexpr unsigned rows_of_a = 64;

LoweringOptions options_for(MatrixArithmetic arithmetic) {
  LoweringOptions options;
  options.matrices = arithmetic;
  return options;
}

std::string braces(const char* prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}

std::string wgmma_text(const WarpgroupForm& form, const std::string& scale) {
  std::string text = "wgmma.mma_async.sync.aligned." + name_of(form);
  if (form.a == b1) text += ".and.popc";
  if (form.saturate) text += ".satfinite";
  text += " " + braces("%d", registers_of_d(form)) + ", ";
  text += form.a_in_registers ? braces("%a", registers_of_a) : std::string("%rd5");
  text += ", %rd6, " + scale;
  if (!is_integer(form.a))
    text += fmt::format(", {}, {}", form.a_negated ? -1 : 1, form.b_negated ? -1 : 1);
  if (form.a == f16 || form.a == bf16) {
    if (!form.a_in_registers) text += fmt::format(", {}", form.a_by_columns ? 1 : 0);
    text += fmt::format(", {}", form.b_by_rows ? 1 : 0);
  }
  return text + ";\n";
}

/// k(memory, image, words, a, b, scale): brings `words` of image to shared memory, D (and A, if it
/// stands in registers) from memory to registers, multiplies, and puts D back.
std::string kernel(const WarpgroupForm& form, const std::string& before_wait = "") {
  const unsigned count = registers_of_d(form);
  std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 image, .param .u32 words, .param .u64 a,
  .param .u64 b, .param .u32 scale)
{
.reg .pred %p<4>; .reg .b32 %r<9>, %d<128>, %a<4>; .reg .b64 %rd<9>;
.shared .align 1024 .b8 room[65536];
ld.param.u64 %rd1, [memory];
ld.param.u64 %rd2, [image];
ld.param.u32 %r1, [words];
ld.param.u64 %rd5, [a];
ld.param.u64 %rd6, [b];
ld.param.u32 %r2, [scale];
setp.ne.u32 %p3, %r2, 0;
mov.u32 %r3, %tid.x;
mov.u32 %r4, %r3;
copy:
setp.ge.u32 %p1, %r4, %r1;
@%p1 bra copied;
mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd3, %rd2, %rd3;
ld.global.b32 %r5, [%rd3];
mov.u32 %r6, room;
shl.b32 %r7, %r4, 2;
add.u32 %r6, %r6, %r7;
st.shared.b32 [%r6], %r5;
mov.u32 %r8, %ntid.x;
add.u32 %r4, %r4, %r8;
bra copy;
copied:
bar.sync 0;
mul.wide.u32 %rd4, %r3, 4;
add.u64 %rd4, %rd1, %rd4;
)";
  const auto each = [&](const char* name, unsigned registers, unsigned first, bool stores) {
    for (unsigned i = 0; i < registers; ++i)
      text += stores ? fmt::format("st.global.b32 [%rd4+{}], {}{};\n", (first + i) * 512, name, i)
                     : fmt::format("ld.global.b32 {}{}, [%rd4+{}];\n", name, i, (first + i) * 512);
  };
  each("%d", count, 0, false);
  if (form.a_in_registers) each("%a", registers_of_a, count, false);
  text += "wgmma.fence.sync.aligned;\n" + wgmma_text(form, "%p3") +
          "wgmma.commit_group.sync.aligned;\n" + before_wait + "wgmma.wait_group.sync.aligned 0;\n";
  each("%d", count, 0, true);
  return text + "ret;\n}\n";
}

/// Operands of a product: A and the columns of B by element, along k.
struct Case {
  WarpgroupForm form;
  Swizzle swizzle = Swizzle::none;
  Matrix a{1, 1}, b{1, 1}, d{1, 1};  ///< 64 x k, k x n, 64 x n
};

std::uint64_t code_of(MatrixElement element, std::mt19937& random, bool small) {
  const std::uint64_t bits = random() & ((std::uint64_t{1} << bits_of(element)) - 1);
  if (!small) return bits;
  // Zero, one, two, and their negatives.
  const std::uint64_t fp8[] = {0x00, 0x38, 0x40, 0xb8, 0xc0};
  const std::uint64_t fp8_wide[] = {0x00, 0x3c, 0x40, 0xbc, 0xc0};
  return element == e4m3 ? fp8[random() % 5] : fp8_wide[random() % 5];
}

Case random_case(const WarpgroupForm& form, Swizzle swizzle, std::mt19937& random) {
  Case x;
  x.form = form;
  x.swizzle = swizzle;
  const unsigned k = form.k();
  x.a = Matrix(rows_of_a, k);
  x.b = Matrix(k, form.n);
  x.d = Matrix(rows_of_a, form.n);
  const bool small = is_fp8(form.a);
  for (auto& code : x.a.codes) code = code_of(form.a, random, small);
  for (auto& code : x.b.codes) code = code_of(form.b, random, small);
  for (auto& code : x.d.codes)
    code = small ? 0 : random() & ((std::uint64_t{1} << bits_of(form.d)) - 1);
  return x;
}

std::uint32_t swizzled_address(std::uint32_t address, Swizzle swizzle) {
  const auto bit = [&](unsigned place) { return address >> place & 1; };
  if (swizzle == Swizzle::bytes_32) return address ^ bit(7) << 4;
  if (swizzle == Swizzle::bytes_64) return address ^ (bit(7) << 4 | bit(8) << 5);
  if (swizzle == Swizzle::bytes_128) return address ^ (bit(7) << 4 | bit(8) << 5 | bit(9) << 6);
  return address;
}

/// Where the byte of element k of a row (of A, or of a column of B) lies.
std::uint32_t place_of(const SharedOperand& operand, bool by_columns, unsigned row, unsigned k,
                       unsigned bits) {
  const std::uint32_t span = operand.swizzle == Swizzle::none       ? 16
                             : operand.swizzle == Swizzle::bytes_32 ? 32
                             : operand.swizzle == Swizzle::bytes_64 ? 64
                                                                    : 128;
  const std::uint32_t byte = k * bits / 8;
  std::uint32_t address = operand.start;
  if (!by_columns && operand.swizzle == Swizzle::none)
    address += row % 8 * 16 + row / 8 * operand.stride + byte / 16 * operand.leading + byte % 16;
  else if (!by_columns)
    address += row % 8 * span + row / 8 * operand.stride + byte;
  else if (operand.swizzle == Swizzle::none)
    address += row % 8 * 2 + row / 8 * operand.stride + k % 8 * 16 + k / 8 * operand.leading;
  else
    address += row % (span / 2) * 2 + row / (span / 2) * operand.leading + k % 8 * span +
               k / 8 * operand.stride;
  return swizzled_address(address, operand.swizzle);
}

/// Offsets so that nothing overlaps, with gaps.
SharedOperand operand_at(std::uint32_t start, Swizzle swizzle, bool by_columns, unsigned rows) {
  SharedOperand operand;
  operand.start = start;
  operand.swizzle = swizzle;
  const std::uint32_t span = span_of(swizzle);
  if (!by_columns && swizzle == Swizzle::none) {
    operand.stride = 128;                    // to the next eight rows
    operand.leading = rows / 8 * 128 + 256;  // to the other half of k
  } else if (!by_columns) {
    operand.stride = 8 * span;
  } else if (swizzle == Swizzle::none) {
    operand.leading = 128;
    operand.stride = 256 + 16;
  } else {
    operand.stride = 8 * span;    // to the next eight k
    operand.leading = 16 * span;  // to the next rows
  }
  return operand;
}

void put(std::vector<std::uint8_t>& image, const SharedOperand& operand, bool by_columns,
         unsigned bits, unsigned row, unsigned k, std::uint64_t code) {
  const std::uint32_t at = place_of(operand, by_columns, row, k, bits);
  if (bits == 1)
    image[at] |= static_cast<std::uint8_t>(code << k % 8);
  else
    std::memcpy(&image[at], &code, bits / 8);
}

/// Words of D's registers, by register and thread.
std::vector<std::uint32_t> d_registers(const WarpgroupForm& form, const Matrix& d) {
  std::vector<std::uint32_t> words(registers_of_d(form) * 128);
  for (unsigned reg = 0; reg < registers_of_d(form); ++reg)
    for (unsigned thread = 0; thread < 128; ++thread) {
      const unsigned warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
      std::uint32_t& word = words[reg * 128 + thread];
      if (form.d == MatrixResult::f16) {
        const unsigned row = 16 * warp + g + 8 * (reg % 2), column = 8 * (reg / 2) + 2 * t;
        word = static_cast<std::uint32_t>(d(row, column) | d(row, column + 1) << 16);
      } else {
        const unsigned i = reg % 4;
        word = static_cast<std::uint32_t>(
            d(16 * warp + g + 8 * (i / 2), 8 * (reg / 4) + 2 * t + i % 2));
      }
    }
  return words;
}

/// Words of A's registers, by register and thread: as those of mma for the rows of each warp.
std::vector<std::uint32_t> a_registers(const WarpgroupForm& form, const Matrix& a) {
  const unsigned bits = bits_of(form.a), each = 32 / bits;
  std::vector<std::uint32_t> words(registers_of_a * 128);
  for (unsigned reg = 0; reg < registers_of_a; ++reg)
    for (unsigned thread = 0; thread < 128; ++thread) {
      const unsigned row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (reg % 2);
      const unsigned first = each * (thread % 4) + 4 * each * (reg / 2);
      for (unsigned e = 0; e < each; ++e)
        words[reg * 128 + thread] |= static_cast<std::uint32_t>(a(row, first + e) << e * bits);
    }
  return words;
}

std::uint64_t negated(MatrixElement element, std::uint64_t code, bool yes) {
  return yes ? code ^ std::uint64_t{1} << (bits_of(element) - 1) : code;
}

/// D by products of mma, 16 rows and 8 columns at a time.
Matrix expected_of(const Case& x, bool accumulates) {
  const MatrixForm step = step_of(x.form);
  Matrix d(rows_of_a, x.form.n);
  for (unsigned row = 0; row < rows_of_a; row += 16)
    for (unsigned column = 0; column < x.form.n; column += 8) {
      Matrix a(16, x.form.k()), b(x.form.k(), 8), c(16, 8);
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned k = 0; k < x.form.k(); ++k)
          a(i, k) = negated(x.form.a, x.a(row + i, k), x.form.a_negated);
      for (unsigned k = 0; k < x.form.k(); ++k)
        for (unsigned j = 0; j < 8; ++j)
          b(k, j) = negated(x.form.b, x.b(k, column + j), x.form.b_negated);
      for (unsigned i = 0; i < 16 && accumulates; ++i)
        for (unsigned j = 0; j < 8; ++j) c(i, j) = x.d(row + i, column + j);
      const Matrix part = test::product(step, a, b, c, cpu_level());
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned j = 0; j < 8; ++j) d(row + i, column + j) = part(i, j);
    }
  return d;
}

std::vector<std::uint32_t> run(const Case& x, bool accumulates, bool lowered,
                               const std::string& text) {
  const SharedOperand a = operand_at(0, x.swizzle, x.form.a_by_columns, rows_of_a);
  const SharedOperand b = operand_at(32768, x.swizzle, x.form.b_by_rows, x.form.n);
  std::vector<std::uint8_t> image(65536, 0);
  for (unsigned k = 0; k < x.form.k(); ++k) {
    for (unsigned row = 0; row < rows_of_a && !x.form.a_in_registers; ++row)
      put(image, a, x.form.a_by_columns, bits_of(x.form.a), row, k, x.a(row, k));
    for (unsigned n = 0; n < x.form.n; ++n)
      put(image, b, x.form.b_by_rows, bits_of(x.form.b), n, k, x.b(k, n));
  }
  IsaBench bench(load_module_text(text, "test.ptx", options_for(MatrixArithmetic::hopper)),
                 lowered);
  std::vector<std::uint32_t> memory = d_registers(x.form, x.d);
  const std::size_t count = memory.size();
  const auto registers = a_registers(x.form, x.a);
  memory.insert(memory.end(), registers.begin(), registers.end());
  const auto at = bench.buffer(memory), from = bench.buffer(image);
  bench.run("k", {1, 1, 1}, {128, 1, 1}, at, from, std::uint32_t{16384}, descriptor_of(a),
            descriptor_of(b), std::uint32_t{accumulates});
  return bench.values<std::uint32_t>(at, count);
}

std::vector<std::uint32_t> run(const Case& x, bool accumulates, bool lowered) {
  return run(x, accumulates, lowered, kernel(x.form));
}

void expect_products(const WarpgroupForm& form, Swizzle swizzle, std::mt19937& random,
                     bool lowered) {
  const Case x = random_case(form, swizzle, random);
  const bool accumulates = random() % 4 != 0;
  ASSERT_EQ(run(x, accumulates, lowered), d_registers(form, expected_of(x, accumulates)))
      << name_of(form) << " swizzle " << span_of(swizzle) << " registers " << form.a_in_registers
      << " turned " << form.a_by_columns << form.b_by_rows << " negated " << form.a_negated
      << form.b_negated;
}

TEST_P(WarpgroupProducts, AreThoseOfMmaInEveryTypeAndLayout) {
  std::mt19937 random(5);
  struct Types {
    MatrixElement a, b;
    MatrixResult d;
  };
  constexpr Types types[] = {{f16, f16, MatrixResult::f16},   {f16, f16, MatrixResult::f32},
                             {bf16, bf16, MatrixResult::f32}, {tf32, tf32, MatrixResult::f32},
                             {e4m3, e5m2, MatrixResult::f32}, {e5m2, e4m3, MatrixResult::f16},
                             {s8, u8, MatrixResult::s32},     {u8, u8, MatrixResult::s32},
                             {b1, b1, MatrixResult::s32}};
  for (const Types& type : types)
    for (const Swizzle swizzle :
         {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128})
      for (unsigned turn = 0; turn < 3; ++turn) {
        WarpgroupForm form;
        form.a = type.a;
        form.b = type.b;
        form.d = type.d;
        form.n = static_cast<std::uint16_t>(is_integer(form.a) ? 16 * (1 + random() % 6)
                                                               : 8 * (1 + random() % 12));
        form.a_in_registers = turn == 1;
        const bool can_turn = form.a == f16 || form.a == bf16;
        form.a_by_columns = can_turn && turn == 2;
        form.b_by_rows = can_turn && random() % 2 == 0;
        form.a_negated = !is_integer(form.a) && random() % 3 == 0;
        form.b_negated = !is_integer(form.a) && random() % 3 == 0;
        form.saturate = form.a == s8 && random() % 2 == 0;
        ASSERT_TRUE(exists(form)) << name_of(form);
        expect_products(form, swizzle, random, GetParam());
      }
}

TEST_P(WarpgroupProducts, HaveUpToTwoHundredFiftySixColumns) {
  std::mt19937 random(6);
  for (const unsigned n : {8U, 136U, 248U, 256U}) {
    WarpgroupForm form;
    form.n = static_cast<std::uint16_t>(n);
    expect_products(form, Swizzle::bytes_128, random, GetParam());
  }
}

/// 2^-13 beside 1 is kept, 2^-14 is not: 13 bits below the largest exponent.
TEST_P(WarpgroupProducts, OfFp8KeepThirteenBits) {
  for (const auto& [factor, expected] : {std::pair(0x18U, 0x3f800400U), {0x14U, 0x3f800000U}}) {
    WarpgroupForm form;
    form.a = form.b = e5m2;
    Case x;
    x.form = form;
    x.a = Matrix(rows_of_a, 32);
    x.b = Matrix(32, 8);
    x.d = Matrix(rows_of_a, 8);
    x.a(0, 0) = x.b(0, 0) = 0x3c;  // 1
    x.a(0, 1) = 0x2c;              // 2^-4
    x.b(1, 0) = factor;            // 2^-9, 2^-10
    EXPECT_EQ(run(x, true, GetParam())[0], expected);
  }
}

std::string mistake_of(const std::string& text, std::uint64_t a, std::uint64_t b,
                       std::uint32_t threads, bool lowered,
                       MatrixArithmetic arithmetic = MatrixArithmetic::hopper) {
  try {
    IsaBench bench(load_module_text(text, "test.ptx", options_for(arithmetic)), lowered);
    const auto at = bench.buffer(std::vector<std::uint32_t>(32768));
    bench.run("k", {1, 1, 1}, {threads, 1, 1}, at, at, std::uint32_t{0}, a, b, std::uint32_t{1});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_P(WarpgroupProducts, MistakesAreToldWithThreadAndLine) {
  const auto has = [&](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const WarpgroupForm form;
  const std::string text = kernel(form);
  has(mistake_of(text, 0, 0, 96, GetParam()),
      "wgmma needs the four warps of a warp group, and the block ends with 3 of them");
  has(mistake_of(text, 0x3fff, 0, 128, GetParam()), "A of wgmma ends at byte 262256 of shared");
  has(mistake_of(text, 0, std::uint64_t{0x3fff}, 128, GetParam()), "B of wgmma ends at byte");
  has(mistake_of(text, std::uint64_t{1} << 49, 0, 128, GetParam()), "has a base offset");
  has(mistake_of(text, 0, 0, 128, GetParam(), MatrixArithmetic::ampere),
      "wgmma needs a GPU of hopper: the machine is of ampere");
}

TEST(WarpgroupRegisters, AreNotToBeTouchedBeforeTheWait) {
  WarpgroupForm form;
  form.a_in_registers = true;
  const auto mistake = [&](const std::string& line) {
    return mistake_of(kernel(form, line), 0, 0, 128, false);
  };
  const auto has = [&](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(mistake("add.u32 %r5, %d1, 1;\n"), "reads a register of a wgmma that is under way");
  has(mistake("add.u32 %d1, %r5, 1;\n"), "writes a register of a wgmma that is under way");
  has(mistake("add.u32 %a1, %r5, 1;\n"), "writes a register of a wgmma that is under way");
  has(mistake("mov.b32 %r5, %d1;\nadd.u32 %r6, %r5, 1;\n"), "reads a register of a wgmma");
  EXPECT_EQ(mistake("add.u32 %r5, %a1, 1;\n"), "");
  EXPECT_EQ(mistake("mov.b32 %r5, %d1;\nmov.b32 %d1, %r5;\n"), "");
}

TEST(WarpgroupRegisters, OfGroupsThatAWaitNamesMayBeTouched) {
  const auto mistake = [&](const std::string& line) {
    return mistake_of(
        kernel(WarpgroupForm{},
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d8, %d9, %d10, %d11}, %rd5, "
               "%rd6, 0, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
               "wgmma.wait_group.sync.aligned 1;\n" +
                   line),
        0, 0, 128, false);
  };
  EXPECT_EQ(mistake("add.u32 %r5, %d1, 1;\n"), "");
  EXPECT_NE(mistake("add.u32 %r5, %d9, 1;\n").find("reads a register of a wgmma"),
            std::string::npos);
}

/// Warps 1 to 3 come late to the product, and warp 0 overwrites B when it has waited.
std::string kernel_with_late_warps(const WarpgroupForm& form) {
  std::string text = kernel(form);
  text.insert(text.find("wgmma.fence"), R"(.reg .pred %late<2>; .reg .b32 %l<3>;
setp.lt.u32 %late0, %r3, 32;
mov.u32 %l0, 0;
@%late0 bra multiply;
again:
add.u32 %l0, %l0, 1;
setp.lt.u32 %late1, %l0, 200000;
@%late1 bra again;
multiply:
)");
  const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  text.insert(text.find(wait) + wait.size(), R"(mov.u32 %l1, room;
shl.b32 %l2, %r3, 2;
add.u32 %l1, %l1, %l2;
mov.u32 %l2, 0;
@%late0 st.shared.b32 [%l1+32768], %l2;
@%late0 st.shared.b32 [%l1+32896], %l2;
)");
  return text;
}

TEST_P(WarpgroupProducts, AWaitIsOverWhenAllWarpsHaveMultiplied) {
  std::mt19937 random(7);
  const WarpgroupForm form;
  const Case x = random_case(form, Swizzle::none, random);
  EXPECT_EQ(run(x, true, GetParam(), kernel_with_late_warps(form)),
            d_registers(form, expected_of(x, true)));
}

TEST_P(WarpgroupProducts, KeepTheRowsOfAUntilTheWait) {
  WarpgroupForm form;
  form.a_in_registers = true;
  std::string others = ".reg .b32 %e<12>;\n";
  for (int i = 0; i < 12; ++i) others += fmt::format("mad.lo.u32 %e{0}, %r3, {0}, %r2;\n", i);
  for (int i = 0; i < 12; ++i)
    others += fmt::format("st.global.b32 [%rd4+{}], %e{};\n", 8192 + 512 * i, i);
  EXPECT_EQ(mistake_of(kernel(form, others), 0, 0, 128, GetParam()), "");
  // A second group is under way behind the first wait, and its A as well.
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%b0, %b1, %b2, "
      "%b3}, %rd6, 1, 1, 1, 0;\n";
  std::string two = ".reg .b32 %b<4>;\n";
  for (int i = 0; i < 4; ++i) two += fmt::format("add.u32 %b{0}, %r3, {0};\n", i);
  two += "wgmma.fence.sync.aligned;\n" + product +
         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n";
  EXPECT_EQ(mistake_of(kernel(form, two + others), 0, 0, 128, GetParam()), "");
}

TEST(WarpgroupForms, AreRefusedWhereThereAreNone) {
  const auto mistake = [](const std::string& line) {
    return mistake_of(kernel(WarpgroupForm{}, line), 0, 0, 128, false);
  };
  const auto has = [&](const std::string& line, const char* part) {
    const std::string text = mistake(line);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%d0}, %rd5, %rd6, 1, 1, 1, 0, 0;\n",
      "there is no wgmma");
  has("wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%d0}, %rd5, %rd6, 1, 1, 1, 0, 0;\n",
      "there is no wgmma");
  has("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1}, %rd5, %rd6, 1, 1, 1, 0, 0;\n",
      "has 4 registers, not 2");
  has("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, %rd5, %rd6, 1, 2, 1, "
      "0, 0;\n",
      "imm-scale-a is 1 or -1, not 2");
  has("wgmma.wait_group.sync.aligned 8;\n", "names 0 to 7 groups");
  has("setmaxnreg.inc.sync.aligned.u32 260;\n", "24 to 256 registers");
}

TEST(SharedOperands, AreTheirDescriptors) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 1000; ++i) {
    SharedOperand operand;
    operand.start = 16 * (random() % 16384);
    operand.leading = 16 * (random() % 16384);
    operand.stride = 16 * (random() % 16384);
    operand.swizzle = static_cast<Swizzle>(random() % 4);
    operand.base_offset = random() % 8;
    const SharedOperand back = shared_operand_of(descriptor_of(operand));
    EXPECT_EQ(back.start, operand.start);
    EXPECT_EQ(back.leading, operand.leading);
    EXPECT_EQ(back.stride, operand.stride);
    EXPECT_EQ(back.swizzle, operand.swizzle);
    EXPECT_EQ(back.base_offset, operand.base_offset);
  }
}

TEST(WarpgroupForms, AreTheirWords) {
  for (unsigned n = 8; n <= 256; n += 8)
    for (const MatrixElement a : {f16, bf16, tf32, e4m3, s8, b1}) {
      WarpgroupForm form;
      form.n = static_cast<std::uint16_t>(n);
      form.a = form.b = a;
      form.d = is_integer(a) ? MatrixResult::s32 : MatrixResult::f32;
      form.b_negated = n % 16 == 0;
      EXPECT_EQ(unpack_warpgroup_form(pack(form)), form);
    }
}

}  // namespace
}  // namespace lockstep::isa::warpgroup_test
