/// Matrix instructions from PTX text to memory, before and after lowering.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <random>

#include "core/error/error.hpp"
#include "models/isa/text/disassemble.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::mma_kernels_test {
namespace {

using test::Matrix;
using test::Registers;
using test::Rows;

LOCKSTEP_BOTH_FORMS(MatrixKernels);

LoweringOptions options_for(MatrixArithmetic arithmetic) {
  LoweringOptions options;
  options.matrices = arithmetic;
  return options;
}
IsaBench bench_of(const std::string& text, MatrixArithmetic arithmetic, bool lowered) {
  return IsaBench(load_module_text(text, "test.ptx", options_for(arithmetic)), lowered);
}

std::string list(const char* prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}
std::string mma_name(const MatrixForm& form) {
  const std::string types = fmt::format("{}.{}.{}.{}", name_of(form.d), name_of(form.a),
                                        name_of(form.b), name_of(form.c));
  const std::string shape = fmt::format("m{}n{}k{}", form.m, form.n, form.k);
  const char* bits = form.operation == MatrixOperation::and_popc   ? ".and.popc"
                     : form.operation == MatrixOperation::xor_popc ? ".xor.popc"
                                                                   : "";
  const std::string layouts =
      std::string(form.a_column ? "col" : "row") + (form.b_row ? ".row" : ".col");
  const std::string saturate = form.saturate ? ".satfinite" : "";
  const std::string rounding = form.rounding == Rounding::rz ? ".rz" : "";
  if (!form.wmma)
    return "mma.sync.aligned." + shape + "." + layouts + saturate + rounding + "." + types + bits;
  const std::string before = form.a == MatrixElement::b1 ? bits + std::string(".sync") : ".sync";
  const std::string short_types =
      form.a == MatrixElement::f16 ? fmt::format("{}.{}", name_of(form.d), name_of(form.c)) : types;
  return "wmma.mma" + before + ".aligned." + layouts + "." + shape + rounding + "." + short_types +
         saturate;
}

/// A kernel of one warp: registers of A, B and C from memory, each operand by register and lane.
std::string mma_kernel(const MatrixForm& form) {
  const MatrixRegisters count = registers_of(form);
  const bool wide = form.a == MatrixElement::f64;
  const unsigned bytes = wide ? 8 : 4;
  std::string body = fmt::format(
      ".reg .{0} a<8>, b<8>, c<8>, d<8>;\nmul.wide.u32 %rd2, %r1, {1};\nadd.s64 %rd2, %rd1, "
      "%rd2;\n",
      wide ? "f64" : "b32", bytes);
  unsigned at = 0;
  const auto each = [&](const char* prefix, unsigned registers, bool store) {
    for (unsigned i = 0; i < registers; ++i, ++at) {
      const std::string place = fmt::format("[%rd2+{}]", at * 32 * bytes);
      const std::string reg = fmt::format("{}{}", prefix, i);
      body += store ? fmt::format("st.global.b{} {}, {};\n", 8 * bytes, place, reg)
                    : fmt::format("ld.global.b{} {}, {};\n", 8 * bytes, reg, place);
    }
  };
  each("a", count.a, false);
  each("b", count.b, false);
  each("c", count.c, false);
  body += fmt::format("{} {}, {}, {}, {};\n", mma_name(form), list("d", count.d),
                      list("a", count.a), list("b", count.b), list("c", count.c));
  each("d", count.d, true);
  return kernel_text(body + "ret;");
}

TEST_P(MatrixKernels, MultiplyRegistersInEveryForm) {
  std::mt19937 random(1);
  for (MatrixForm form : test::all_forms()) {
    if (form.a == MatrixElement::f64)
      form.rounding = random() % 2 == 0 ? Rounding::rz : Rounding::rn;
    if (form.a == MatrixElement::s8) form.saturate = random() % 2 == 0;
    if (is_quad_pairs(form)) form.a_column = random() % 2 == 0;
    Registers registers = test::registers_for(form);
    std::vector<std::uint32_t> words;
    for (Rows* rows : {&registers.a, &registers.b, &registers.c})
      for (std::uint32_t& word : *rows)
        words.push_back(word = static_cast<std::uint32_t>(random()));
    const Rows expected = test::multiply(form, registers, cpu_level());
    words.resize(words.size() + expected.size());
    IsaBench bench = bench_of(mma_kernel(form), form.arithmetic, GetParam());
    const std::uint64_t memory = bench.buffer(words);
    bench.run("k", {1, 1, 1}, {32, 1, 1}, memory);
    words = bench.values<std::uint32_t>(memory, words.size());
    ASSERT_EQ(Rows(words.end() - static_cast<std::ptrdiff_t>(expected.size()), words.end()),
              expected)
        << mma_name(form) << " " << name_of(form.arithmetic);
  }
}

/// Elements of a matrix in memory, lines `stride` apart.
std::vector<std::uint8_t> in_memory(const Matrix& matrix, unsigned bits, bool by_columns,
                                    unsigned stride) {
  const unsigned rows = static_cast<unsigned>(matrix.codes.size()) / matrix.columns;
  const unsigned lines = by_columns ? matrix.columns : rows;
  std::vector<std::uint8_t> bytes(std::size_t{lines} * stride * bits / 8);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < matrix.columns; ++column) {
      const std::size_t index =
          by_columns ? std::size_t{column} * stride + row : std::size_t{row} * stride + column;
      const std::uint64_t code = matrix(row, column);
      if (bits >= 8)
        std::memcpy(&bytes[index * bits / 8], &code, bits / 8);
      else
        bytes[index * bits / 8] |= static_cast<std::uint8_t>(code << index * bits % 8);
    }
  return bytes;
}
Matrix random_matrix(std::mt19937& random, unsigned rows, unsigned columns, unsigned bits) {
  Matrix matrix(rows, columns);
  for (std::uint64_t& code : matrix.codes) {
    code = random() | static_cast<std::uint64_t>(random()) << 32;
    if (bits < 64) code &= (std::uint64_t{1} << bits) - 1;
  }
  return matrix;
}

struct Layouts {
  bool a, b, c;  ///< by columns
};
std::string wmma_kernel(const MatrixForm& form, Layouts by_columns, unsigned a_stride,
                        unsigned b_stride, unsigned c_stride, bool immediate_strides) {
  const MatrixRegisters count = registers_of(form);
  const bool wide = form.a == MatrixElement::f64;
  const std::string shape = fmt::format("m{}n{}k{}", form.m, form.n, form.k);
  const auto layout = [](bool columns) { return columns ? "col" : "row"; };
  const auto stride = [&](unsigned value, const char* name) {
    return immediate_strides ? std::to_string(value) : std::string(name);
  };
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param "
      ".u32 "
      "sa, .param .u32 sb, .param .u32 sc)\n{{\n.reg .b64 %rd<9>;\n.reg .b32 %s<4>;\n.reg .{} "
      "a<8>, "
      "b<8>, c<8>, d<8>;\nld.param.u64 %rd1, [pa];\nld.param.u64 %rd2, [pb];\nld.param.u64 %rd3, "
      "[pc];\nld.param.u64 %rd4, [pd];\nld.param.u32 %s1, [sa];\nld.param.u32 %s2, "
      "[sb];\nld.param.u32 %s3, [sc];\n",
      wide ? "f64" : "b32");
  const auto load = [&](const char* which, bool columns, const std::string& type,
                        unsigned registers, const char* address, const std::string& step) {
    text += fmt::format("wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [{}], {};\n", which,
                        layout(columns), shape, type, list(which, registers), address, step);
  };
  load("a", by_columns.a, name_of(form.a), count.a, "%rd1", stride(a_stride, "%s1"));
  load("b", by_columns.b, name_of(form.b), count.b, "%rd2", stride(b_stride, "%s2"));
  load("c", by_columns.c, name_of(form.c), count.c, "%rd3", stride(c_stride, "%s3"));
  MatrixForm named = form;
  named.a_column = by_columns.a;
  named.b_row = !by_columns.b;
  text += fmt::format("{} {}, {}, {}, {};\n", mma_name(named), list("d", count.d),
                      list("a", count.a), list("b", count.b), list("c", count.c));
  text += fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [%rd4], {}, {};\n",
                      layout(by_columns.c), shape, name_of(form.d), list("d", count.d),
                      stride(c_stride, "%s3"));
  return ".version 8.4\n.target sm_90\n.address_size 64\n" + text + "ret;\n}\n";
}

TEST_P(MatrixKernels, LoadMultiplyAndStoreFragmentsInEveryLayout) {
  std::mt19937 random(2);
  for (const MatrixForm& form : test::all_forms()) {
    if (!form.wmma || form.arithmetic == MatrixArithmetic::ada) continue;
    const unsigned a_bits = bits_of(form.a), c_bits = bits_of(form.c), d_bits = bits_of(form.d);
    const bool fixed = a_bits < 8;
    const Layouts layouts{!fixed && random() % 2 == 0, fixed || random() % 2 == 0,
                          random() % 2 == 0};
    const auto stride = [&](unsigned line, unsigned bits) {
      return (line * bits + 127) / 128 * 128 / bits + random() % 2 * (128 / bits);
    };
    const unsigned a_stride = stride(layouts.a ? form.m : form.k, a_bits);
    const unsigned b_stride = stride(layouts.b ? form.k : form.n, a_bits);
    const unsigned c_stride = stride(layouts.c ? form.m : form.n, std::min(c_bits, d_bits));
    const Matrix a = random_matrix(random, form.m, form.k, a_bits);
    const Matrix b = random_matrix(random, form.k, form.n, a_bits);
    const Matrix c = random_matrix(random, form.m, form.n, c_bits);
    const Matrix expected = test::product(form, a, b, c, cpu_level());
    IsaBench bench =
        bench_of(wmma_kernel(form, layouts, a_stride, b_stride, c_stride, random() % 2 == 0),
                 form.arithmetic, GetParam());
    const std::vector<std::uint8_t> wanted = in_memory(expected, d_bits, layouts.c, c_stride);
    const std::uint64_t d = bench.buffer(std::vector<std::uint8_t>(wanted.size()));
    const std::uint64_t pa = bench.buffer(in_memory(a, a_bits, layouts.a, a_stride));
    const std::uint64_t pb = bench.buffer(in_memory(b, a_bits, layouts.b, b_stride));
    const std::uint64_t pc = bench.buffer(in_memory(c, c_bits, layouts.c, c_stride));
    bench.run("k", {1, 1, 1}, {32, 1, 1}, pa, pb, pc, d, a_stride, b_stride, c_stride);
    ASSERT_EQ(bench.values<std::uint8_t>(d, wanted.size()), wanted)
        << mma_name(form) << " " << name_of(form.arithmetic) << (layouts.a ? " A by columns" : "")
        << (layouts.b ? " B by columns" : "") << (layouts.c ? " C by columns" : "");
  }
}

/// Rows of 16 bytes in shared memory, in an order of their own; then ldmatrix and stmatrix.
std::string matrix_kernel(unsigned count, bool transposed, bool stores, bool generic) {
  const std::string suffix = fmt::format(".sync.aligned.m8n8.x{}{}{}.b16", count,
                                         transposed ? ".trans" : "", generic ? "" : ".shared");
  std::string text = R"(
.shared .align 16 .b8 tile[1024];
.reg .b32 r<8>, addr, row;
mov.u32 addr, tile;
shl.b32 r0, %r1, 5;
add.u32 r1, addr, r0;
)";
  // Each thread has 32 bytes of input: two rows.
  text += R"(
mul.wide.u32 %rd3, %r1, 32;
add.s64 %rd3, %rd1, %rd3;
ld.global.v4.b32 {r2, r3, r4, r5}, [%rd3];
st.shared.v4.b32 [r1], {r2, r3, r4, r5};
ld.global.v4.b32 {r2, r3, r4, r5}, [%rd3+16];
st.shared.v4.b32 [r1+16], {r2, r3, r4, r5};
bar.warp.sync -1;
mul.lo.u32 row, %r1, 7;
and.b32 row, row, 31;
shl.b32 row, row, 5;
add.u32 row, addr, row;
)";
  std::string address = "row";
  if (generic) {
    text += "cvt.u64.u32 %rd4, row;\ncvta.shared.u64 %rd4, %rd4;\n";
    address = "%rd4";
  }
  if (stores) {
    text += "ld.shared.v4.b32 {r2, r3, r4, r5}, [r1];\nbar.warp.sync -1;\n";
    text += fmt::format("stmatrix{} [{}], {};\nbar.warp.sync -1;\n", suffix, address,
                        count == 1   ? "{r2}"
                        : count == 2 ? "{r2, r3}"
                                     : "{r2, r3, r4, r5}");
    text += "ld.shared.v4.b32 {r2, r3, r4, r5}, [r1];\n";
  } else {
    text += "mov.u32 r2, 0;\nmov.u32 r3, 0;\nmov.u32 r4, 0;\nmov.u32 r5, 0;\n";
    text += fmt::format("ldmatrix{} {}, [{}];\n", suffix,
                        count == 1   ? "{r2}"
                        : count == 2 ? "{r2, r3}"
                                     : "{r2, r3, r4, r5}",
                        address);
  }
  text += "st.global.v4.b32 [%rd3], {r2, r3, r4, r5};\n";
  return kernel_text(text + "ret;");
}
TEST_P(MatrixKernels, MoveRowsOfMatricesAsPerLaneLoopsDo) {
  std::mt19937 random(3);
  for (const unsigned count : {1U, 2U, 4U})
    for (const bool transposed : {false, true})
      for (const bool stores : {false, true})
        for (const bool generic : {false, true}) {
          IsaBench bench(matrix_kernel(count, transposed, stores, generic), GetParam());
          std::vector<std::uint16_t> input(32 * 16);
          for (std::uint16_t& half : input) half = static_cast<std::uint16_t>(random());
          const std::uint64_t memory = bench.buffer(input);
          bench.run("k", {1, 1, 1}, {32, 1, 1}, memory);
          const auto result = bench.values<std::uint16_t>(memory, input.size());
          std::vector<std::uint16_t> tile = input;  // 32 bytes of each thread
          const auto element = [&](unsigned matrix, unsigned row,
                                   unsigned column) -> std::uint16_t& {
            return tile[(8 * matrix + row) * 7 % 32 * 16 + column];
          };
          std::vector<std::uint16_t> registers(32 * 8);
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned j = 0; j < 4; ++j)
              for (unsigned part = 0; part < 2; ++part) {
                const unsigned row = lane / 4, column = lane % 4 * 2 + part;
                std::uint16_t& held = registers[lane * 8 + 2 * j + part];
                if (j >= count) continue;
                if (stores)
                  (transposed ? element(j, column, row) : element(j, row, column)) =
                      input[lane * 16 + 2 * j + part];
                else
                  held = transposed ? element(j, column, row) : element(j, row, column);
              }
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < 8; ++i)
              ASSERT_EQ(result[lane * 16 + i],
                        stores ? tile[lane * 16 + i] : registers[lane * 8 + i])
                  << "x" << count << (transposed ? " trans" : "") << (stores ? " store" : " load")
                  << (generic ? " generic" : "") << " lane " << lane << " half " << i;
        }
}

TEST_P(MatrixKernels, TransposeMatricesOfAWarp) {
  const std::string text = kernel_text(R"(
.reg .b32 r<3>;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
ld.global.b32 r1, [%rd3];
movmatrix.sync.aligned.m8n8.trans.b16 r2, r1;
st.global.b32 [%rd3], r2;
ret;)");
  IsaBench bench(text, GetParam());
  std::vector<std::uint16_t> input(64);
  for (unsigned i = 0; i < 64; ++i) input[i] = static_cast<std::uint16_t>(i);
  const std::uint64_t memory = bench.buffer(input);
  bench.run("k", {1, 1, 1}, {32, 1, 1}, memory);
  const auto result = bench.values<std::uint16_t>(memory, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(result[i], i % 8 * 8 + i / 8);
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}
using ::testing::HasSubstr;

const char* const small_product = R"(
.reg .b32 r<5>;
mov.u32 r1, 0; mov.u32 r2, 0; mov.u32 r3, 0; mov.u32 r4, 0;
)";
constexpr const char* product_line =
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r1, r2}, {r1, r2, r3, r4}, {r1, r2}, {r3, "
    "r4};\n";

TEST_P(MatrixKernels, OfMissingLanesAreRefused) {
  const auto run = [&](const std::string& body, std::uint32_t threads) {
    return message_of([&] {
      IsaBench bench(kernel_text(std::string(small_product) + body + "ret;"), GetParam());
      bench.run("k", {1, 1, 1}, {threads, 1, 1}, bench.allocate(256));
    });
  };
  EXPECT_EQ(run(product_line, 32), "no error");
  EXPECT_THAT(run(product_line, 20), HasSubstr("mma needs all lanes of the warp, and lanes 20-31"));
  const std::string guarded = "setp.ne.u32 %p1, %r1, 7;\n@%p1 " + std::string(product_line);
  EXPECT_THAT(run(guarded, 32), HasSubstr("lane 7 is not there"));
  const std::string parted =
      "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra away;\n" + std::string(product_line) + "away:\n";
  EXPECT_THAT(run(parted, 32), HasSubstr("lanes 0-2 are not there"));
  EXPECT_EQ(run("setp.ge.u32 %p1, %r1, 32;\n@%p1 " + std::string(product_line), 32), "no error")
      << "nobody executes it";
}

TEST_P(MatrixKernels, RowsOfLanesThatHavePartedAreMovedTogether) {
  const auto run = [&](const std::string& body) {
    return message_of([&] {
      IsaBench bench(kernel_text(R"(
        .shared .align 16 .b8 rows[128];
        setp.lt.u32 %p1, %r1, 16;
        @%p1 bra meet;
        setp.gt.u32 %p2, %r1, 40;
        @%p2 ret;
meet:
        mov.u32 %r2, rows;
)" + body +
                                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, "
                                 "[%r2];\nst.shared.u32 [%r2], %r3;\nret;"),
                     GetParam());
      bench.run("k", {1, 1, 1}, {32, 1, 1}, bench.allocate(256));
    });
  };
  EXPECT_EQ(run(""), "no error");
  EXPECT_THAT(run("@%p1 ret;\n"), HasSubstr("lanes 0-15 are not there"));
}

TEST_P(MatrixKernels, OfRowsThatAreNoneAreRefused) {
  const auto run = [&](const std::string& address) {
    return message_of([&] {
      IsaBench bench(
          kernel_text(".shared .align 16 .b8 tile[512];\n.reg .b32 r<3>;\nmov.u32 r1, "
                      "tile;\nshl.b32 r2, %r1, 4;\nadd.u32 r1, r1, r2;\n" +
                      address +
                      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r2}, [r1];\nst.global.b32 "
                      "[%rd2], r2;\nret;"),
          GetParam());
      bench.run("k", {1, 1, 1}, {32, 1, 1}, bench.allocate(256));
    });
  };
  EXPECT_EQ(run(""), "no error");
  EXPECT_THAT(run("add.u32 r1, r1, 8;\n"), HasSubstr("misaligned"));
  EXPECT_THAT(run("add.u32 r1, r1, 512;\n"), HasSubstr("out-of-bounds"));
  EXPECT_EQ(run("setp.ge.u32 %p1, %r1, 8;\n@%p1 mov.u32 r1, 100001;\n"), "no error")
      << "addresses of lanes from eight on are not looked at";
}

TEST(MatrixForms, ThatTheMachineLacksAreRefusedAtLoad) {
  const auto load = [](const std::string& line, std::optional<MatrixArithmetic> arithmetic) {
    LoweringOptions options;
    options.matrices = arithmetic;
    return message_of([&] {
      load_module_text(kernel_text(std::string(small_product) + line + "ret;"), "test.ptx",
                       options);
    });
  };
  EXPECT_EQ(load(product_line, MatrixArithmetic::ampere), "no error");
  const std::string turing = load(product_line, MatrixArithmetic::turing);
  EXPECT_THAT(turing, HasSubstr("test.ptx:"));
  EXPECT_THAT(turing, HasSubstr("mma m16n8k16.f16.f16.f16.f16 needs matrix units of ampere"));
  EXPECT_THAT(turing, HasSubstr("that of the machine is turing"));
  EXPECT_THAT(turing, HasSubstr("A100 (8.0)"));
  EXPECT_THAT(load(product_line, std::nullopt), HasSubstr("the machine has none"));
}
TEST(MatrixForms, ThatThereAreNotAreRefusedWhereTheyAreRead) {
  const auto read = [](const std::string& line) {
    return message_of([&] {
      load_module_text(kernel_text(std::string(small_product) + line + "ret;"), "test.ptx");
    });
  };
  EXPECT_THAT(read("mma.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {r1, r2}, {r1, r2, r3, r4}, "
                   "{r1, r2}, {r3, r4};\n"),
              HasSubstr("there is no mma.sync.aligned.m16n8k32"));
  EXPECT_THAT(read("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r1, r2}, {r1, r2, r3}, "
                   "{r1, r2}, {r3, r4};\n"),
              HasSubstr("a of mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 has 4 registers"));
  EXPECT_THAT(read("mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r1, r2}, {r1, r2}, {r1, "
                   "r2}, {r3, r4}, r1, 0;\n"),
              HasSubstr("sparse matrices are not modelled"));
  EXPECT_THAT(read("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {r1, r2, r3, r4, r1, r2, r3, "
                   "r4}, [%rd1], 12;\n"),
              HasSubstr("multiple of 16 bytes"));
  EXPECT_THAT(read("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r1, r2}, [r1];\n"),
              HasSubstr("only .m8n8 of .b16"));
  EXPECT_THAT(read("wgmma.fence.sync.aligned;\n"), HasSubstr("needs a GPU of hopper"));
  EXPECT_THAT(read("tcgen05.wait::ld.sync.aligned;\n"), HasSubstr("compile for sm_80"));
}

TEST(MatrixForms, AreDisassembled) {
  const Module module =
      load_module_text(kernel_text(std::string(small_product) + product_line + "ret;"), "test.ptx");
  EXPECT_THAT(disassemble(module.kernels[0].lowered), HasSubstr("mma.m16n8k16.f16.f16.f16.f16"));
}

}  // namespace
}  // namespace lockstep::isa::mma_kernels_test
