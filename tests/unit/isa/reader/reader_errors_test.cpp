#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::reader_errors_test {
namespace {

/// The message for a module, or "" when it loads.
std::string error_of(const std::string& text) {
  try {
    load_module_text(text, "bad.ptx");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// A kernel whose sixth line is `line`.
std::string with_line(const std::string& line) {
  return ".version 7.8\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .f32 %f<9>;\n" +
         line + "\nret;\n}\n";
}

TEST(ReaderErrors, AMissingSemicolonIsFoundWhereItShouldStand) {
  EXPECT_EQ(
      error_of(with_line("add.s32 %r1, %r2, 1")),
      "bad.ptx:7:1: expected ';', found \"ret\" - put ',' between operands and ';' behind the "
      "last");
  EXPECT_EQ(
      error_of(with_line("add.s32 %r1 %r2, 1;")),
      "bad.ptx:6:13: expected ';', found \"%r2\" - put ',' between operands and ';' behind the "
      "last; write it as add{.rnd}{.ftz}{.sat}{.cc}.type d, a, b");
}

TEST(ReaderErrors, AnUnknownRegisterIsNamedWithItsPlace) {
  EXPECT_EQ(error_of(with_line("add.s32 %r1, %r2, %x9;")),
            "bad.ptx:6:19: unknown name %x9 - declare it with .reg in this scope");
}

TEST(ReaderErrors, UnsupportedInstructionsAreNamed) {
  for (const std::string opcode :
       {"tld4.r.2d.v4.f32.f32", "sured.b.add.2d.u32.trap", "tcgen05.mma.cta_group::1.kind::f16"}) {
    const std::string message = error_of(with_line(opcode + " %r1, %r2;"));
    EXPECT_NE(message.find("bad.ptx:6:1: instruction " + opcode + " is not supported"),
              std::string::npos)
        << message;
  }
}

TEST(ReaderErrors, AnInstructionThatIsNearlyOneIsShownAsItIsWritten) {
  EXPECT_EQ(
      error_of(with_line("mul24x.lo.s32 %r1, %r2, %r3;")),
      "bad.ptx:6:1: instruction mul24x.lo.s32 is not supported - did you mean \"mul24\"? It is "
      "mul24.lo.type d, a, b with .lo or .hi, .u32 or .s32");
}

TEST(ReaderErrors, WhatIsNotModelledSaysWhatDoesItsWork) {
  EXPECT_NE(
      error_of(with_line("tld4.r.2d.v4.f32.f32 %r1, %r2;")).find(" - gathers are not modelled"),
      std::string::npos);
  EXPECT_NE(error_of(with_line("tcgen05.alloc.sync;")).find("compile for sm_80"),
            std::string::npos);
}

TEST(ReaderErrors, AHundredBracketsWithinEachOtherAreEnough) {
  const auto nested = [](std::size_t depth) {
    return ".version 7.8\n.target sm_75\n.address_size 64\n// ((((\n.global .u32 a[1] = " +
           std::string(depth, '{') + "1" + std::string(depth, '}') + ";\n";
  };
  EXPECT_EQ(error_of(nested(100)), "");
  EXPECT_EQ(error_of(nested(101)),
            "bad.ptx:5:121: brackets within brackets, more than 100 deep - close some before, or "
            "split the function");
  EXPECT_NE(error_of(nested(1'000'000)).find("more than 100 deep"), std::string::npos);
}

TEST(ReaderErrors, ATypeThatTheOpcodeDoesNotHaveIsAnError) {
  EXPECT_NE(error_of(with_line("brev.f32 %f1, %f2;")).find("bad.ptx:6:1: "), std::string::npos);
}

TEST(ReaderErrors, AModifierThatNobodyKnowsIsNamed) {
  EXPECT_EQ(error_of(with_line("add.quick.s32 %r1, %r2, %r3;")),
            "bad.ptx:6:1: add.quick.s32: modifier .quick is not supported here - write it as "
            "add{.rnd}{.ftz}{.sat}{.cc}.type d, a, b");
}

TEST(ReaderErrors, ARegisterOfTheWrongWidthIsNamed) {
  EXPECT_EQ(
      error_of(with_line("add.s32 %r1, %rd2, 1;")),
      "bad.ptx:6:14: register %rd2 has 64 bits, add.s32 needs 32 - convert it with cvt, or use "
      "another type of the instruction");
}

TEST(ReaderErrors, TooFewOperandsAreCounted) {
  EXPECT_EQ(error_of(with_line("add.s32 %r1, %r2;")),
            "bad.ptx:6:1: add.s32: takes 3 operands, not 2 - write it as "
            "add{.rnd}{.ftz}{.sat}{.cc}.type d, a, b");
}

TEST(ReaderErrors, AnUnknownLabelIsNamed) {
  EXPECT_EQ(
      error_of(with_line("bra nowhere;")),
      "bad.ptx:6:5: unknown name nowhere - declare it in this scope, or before the functions");
}

TEST(ReaderErrors, ACallOfAFunctionWithoutBodyIsAnErrorAtTheCall) {
  const std::string text =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".extern .func (.param .b64 r) elsewhere(.param .b64 a);\n"
      ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r;\ncall.uni (r), elsewhere, (a, "
      "b);\n}\nret;\n}\n";
  EXPECT_NE(error_of(text).find("bad.ptx:8:15: call of elsewhere, which has no body"),
            std::string::npos)
      << error_of(text);
}

TEST(KernelParameters, ScalarsDeclaredAsAlignedBytesAreIntegers) {
  const Module module = load_module_text(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .align 4 .b8 a[4], .param .align 8 .b8 b[8], .param .align 4 .b8 "
      "c[8]) {\nret;\n}\n",
      "bytes.ptx");
  const auto& parameters = module.kernels[0].reference.parameters;
  EXPECT_EQ(parameters[0].type, Type::b32);
  EXPECT_EQ(parameters[1].type, Type::b64);
  EXPECT_EQ(parameters[2].type, Type::b8);
}

TEST(ReaderErrors, AnotherVprintfThanThatOfCudaIsAnErrorWhereItIsDeclared) {
  EXPECT_EQ(error_of(".version 7.8\n.target sm_75\n.address_size 64\n"
                     ".extern .func vprintf(.param .b64 a, .param .b64 b);\n"),
            "bad.ptx:4:15: vprintf takes a format and a buffer of arguments, of 64 bits each, and "
            "returns 32 bits - declare it so, or give it a body");
}

TEST(ReaderErrors, AnAssertWithOtherArgumentsIsAnErrorAtTheCall) {
  const std::string text =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b);\n"
      ".visible .entry k(.param .u64 out) {\n"
      "{ .param .b64 a; .param .b64 b;\ncall.uni __assertfail, (a, b);\n}\nret;\n}\n";
  EXPECT_EQ(
      error_of(text),
      "bad.ptx:7:10: __assertfail takes a message, a file, a line, a function and a character "
      "size of 64, 64, 32, 64 and 64 bits - declare it so, as assert.h does");
}

TEST(ReaderErrors, AnInitialiserLargerThanItsVariableIsAnError) {
  const std::string text =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".global .align 4 .u32 table[2] = {1, 2, 3};\n";
  EXPECT_EQ(error_of(text),
            "bad.ptx:4:41: initialiser has more values than the variable - make the array larger");
}

TEST(ReaderErrors, AnInitialisedVariableOfAnAbsurdSizeIsRefusedBeforeMemoryIsTaken) {
  const std::string text =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".global .align 4 .u32 table[200000000000] = {1};\n";
  EXPECT_EQ(
      error_of(text),
      "bad.ptx:4:23: variable table with initial values takes 800000000000 bytes - at most 256 "
      "MiB may have them: correct the extent, or use a buffer");
}

TEST(ReaderErrors, AMissingFileIsNamed) {
  EXPECT_THROW(load_module("no/such/file.ptx"), UserError);
}

TEST(Reader, AcceptsWhatCompilersPutAroundTheCode) {
  const std::string text = R"(//
// Generated by a compiler
.version 9.0
.target sm_75, debug
.address_size 64
.file 1 "a.cu"
.visible .global .align 4 .b8 bytes[8] = {0xFF, 2, 3};
.const .align 8 .f64 numbers[2] = {0d3FF0000000000000, 2.5};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(
 .param .u64 .ptr .global .align 16 out /* pointer */
)
.maxntid 256, 1, 1
.minnctapersm 2
{
 .loc 1 10 5
 .reg .b32 %r<3>;
 .pragma "nounroll";
 { // begin inline asm
 .reg .b32 t; mov.u32 t, %laneid; mov.u32 %r1, t;
 }
 .loc 1 11 7, function_name $info, inlined_at 1 10 3
$L__BB0_1:
 ret;
}
.section .debug_abbrev {
.b8 1
.b8 17
}
)";
  const Module module = load_module_text(text, "a.ptx");
  ASSERT_EQ(module.kernels.size(), 1u);
  EXPECT_EQ(module.kernels[0].reference.maximum_threads, 256u);
  ASSERT_EQ(module.globals.size(), 1u);
  EXPECT_EQ(module.globals[0].bytes, 8u);
  EXPECT_EQ(module.globals[0].initial[0], std::byte{0xff});
  double second = 0;
  std::memcpy(&second, module.constant_image.data() + 8, 8);
  EXPECT_EQ(second, 2.5);
}

TEST(Reader, PlacesConstantsByTheirAlignment) {
  const Module module = load_module_text(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".const .b8 letters[3] = {1, 2, 3};\n.const .align 8 .f64 number = 2.5;\n",
      "c.ptx");
  ASSERT_EQ(module.constant_image.size(), 16u);
  double number = 0;
  std::memcpy(&number, module.constant_image.data() + 8, sizeof number);
  EXPECT_EQ(number, 2.5);
}

TEST(Reader, PlacesParametersByTheirAlignment) {
  const Module module = load_module_text(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12], .param .f32 d) { ret; }\n",
      "p.ptx");
  const Program& program = module.kernels[0].reference;
  ASSERT_EQ(program.parameters.size(), 4u);
  EXPECT_EQ(program.parameters[1].offset, 8u);
  EXPECT_EQ(program.parameters[2].offset, 16u);
  EXPECT_EQ(program.parameters[2].bytes, 12u);
  EXPECT_EQ(program.parameters[3].offset, 28u);
  EXPECT_EQ(program.parameter_bytes, 32u);
}

}  // namespace
}  // namespace lockstep::isa::reader_errors_test
