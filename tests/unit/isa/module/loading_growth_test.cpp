/// Loading costs as much as the module is long, whatever it is made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>

#include "core/error/error.hpp"
#include "models/isa/load.hpp"
#include "models/isa/lowering/schedule/dependences.hpp"
#include "models/isa/reader/reader.hpp"

namespace lockstep::isa::loading_growth_test {
namespace {

using Lines = std::function<std::string(unsigned i)>;

std::string repeated(unsigned count, const Lines& lines) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += lines(i);
  return text;
}

std::string number(unsigned i) {
  return std::to_string(i);
}

/// A kernel around these lines; `before` stands before it.
std::string kernel(const std::string& lines, unsigned count, const std::string& before = "") {
  const std::string n = number(count);
  return ".version 7.8\n.target sm_75\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<" + n +
         ">; .reg .f32 %x<" + n +
         ">; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %g<4>;\nld.param.u64 %rd1, [a];\n"
         "ld.param.u32 %r1, [n];\nld.global.u32 %r3, [%rd1+8];\nld.global.f32 %g1, [%rd1];\n" +
         lines + "st.global.f32 [%rd1], %g1;\nst.global.u32 [%rd1+4], %r3;\nret;\n}\n";
}

struct Shape {
  const char* name;
  unsigned count;  ///< of the smaller module
  std::function<std::string(unsigned count)> text;
};

std::string guard(unsigned i) {
  return "setp.lt.s32 %p" + number(i) + ", %r3, " + number(i) + ";\n@%p" + number(i) + " bra ";
}

const Shape shapes[] = {
    {"OneBlock", 500,
     [](unsigned n) {
       return kernel(repeated(n,
                              [](unsigned i) {
                                const std::string x = "%x" + number(i), at = number(4 * i);
                                return "ld.global.f32 " + x + ", [%rd1+" + at +
                                       "];\nadd.f32 %g1, %g1, " + x + ";\nst.global.f32 [%rd1+" +
                                       at + "], %g1;\n";
                              }),
                     n);
     }},
    {"LoadsThatMayAllGoFirst", 700,
     [](unsigned n) {
       const auto load = [](unsigned i) {
         return "ld.global.f32 %x" + number(i) + ", [%rd1+" + number(4 * i) + "];\nfma.rn.f32 %x" +
                number(i) + ", %x" + number(i) + ", %x" + number(i) + ", %g1;\nst.shared.f32 [" +
                number(4 * (i % 64)) + "], %x" + number(i) + ";\n";
       };
       return kernel(repeated(n, load), n);
     }},
    {"Branches", 400,
     [](unsigned n) {
       const auto branch = [](unsigned i) {
         return guard(i) + "past" + number(i) + ";\nld.global.f32 %x" + number(i) + ", [%rd1+" +
                number(4 * i) + "];\nst.global.f32 [%rd1+" + number(4 * i + 4) + "], %x" +
                number(i) + ";\nbar.sync 0;\npast" + number(i) + ":\n";
       };
       return kernel(repeated(n, branch), n);
     }},
    {"BranchesThatArePredicated", 500,
     [](unsigned n) {
       const auto branch = [](unsigned i) {
         return guard(i) + "past" + number(i) + ";\nadd.f32 %g1, %g1, %g1;\npast" + number(i) +
                ":\nadd.u32 %r3, %r3, " + number(i % 9) + ";\n";
       };
       return kernel(repeated(n, branch), n);
     }},
    {"WaysOut", 500,
     [](unsigned n) {
       const auto leave = [](unsigned i) {
         return guard(i) + "done;\nld.global.u32 %r4, [%rd1+" + number(4 * i) +
                "];\nadd.u32 %r3, %r3, %r4;\n";
       };
       return kernel(repeated(n, leave) + "done:\nadd.u32 %r3, %r3, 1;\n", n);
     }},
    {"Loops", 400,
     [](unsigned n) {
       const auto loop = [](unsigned i) {
         return "mov.u32 %r4, 0;\nloop" + number(i) + ":\nfma.rn.f32 %g1, %g1, %g1, %g1;\n" +
                "add.u32 %r4, %r4, 1;\nsetp.lt.s32 %p" + number(i) + ", %r4, %r1;\n@%p" +
                number(i) + " bra loop" + number(i) + ";\n";
       };
       return kernel(repeated(n, loop), n);
     }},
    {"Switch", 500,
     [](unsigned n) {
       const auto target = [](unsigned i) { return (i == 0 ? "c" : ", c") + number(i); };
       const auto arm = [](unsigned i) {
         return "c" + number(i) + ":\nadd.u32 %r3, %r3, " + number(i) + ";\nbra.uni out;\n";
       };
       return kernel("table: .branchtargets " + repeated(n, target) + ";\nbrx.idx %r3, table;\n" +
                         repeated(n, arm) + "out:\n",
                     n);
     }},
    {"Calls", 500,
     [](unsigned n) {
       const std::string function =
           ".func (.reg .f32 %y) f(.reg .f32 %x)\n{\n.reg .pred %p;\nmul.f32 %y, %x, %x;\n"
           "setp.gt.f32 %p, %y, %x;\n@%p ret;\nadd.f32 %y, %y, %x;\nret;\n}\n";
       const auto call = [](unsigned) { return std::string("call.uni (%g1), f, (%g1);\n"); };
       return kernel(repeated(n, call), n, function);
     }},
    {"Pointers", 700,
     [](unsigned n) {
       const auto step = [](unsigned) {
         return std::string(
             "add.s64 %rd1, %rd1, 4;\nld.global.f32 %g2, [%rd1];\n"
             "add.f32 %g1, %g1, %g2;\n");
       };
       return kernel(repeated(n, step), n);
     }},
};

double seconds_of(const std::function<void()>& work) {
  timespec begin{}, end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  work();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
}

/// Processor time of the larger work over that of the smaller, each the least of some.
double growth(const std::function<void()>& small, const std::function<void()>& large) {
  double least_small = 1e9, least_large = 1e9;
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    least_small = std::min(least_small, seconds_of(small));
    least_large = std::min(least_large, seconds_of(large));
  }
  return least_large / least_small;
}

class Loading : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(, Loading, testing::ValuesIn(shapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST_P(Loading, OfEightTimesAsMuchTakesEightTimesAsLong) {
  const std::string small = GetParam().text(GetParam().count);
  const std::string large = GetParam().text(8 * GetParam().count);
  const double ratio =
      growth([&] { load_module_text(small, "k.ptx"); }, [&] { load_module_text(large, "k.ptx"); });
  EXPECT_LT(ratio, 24) << "64 were quadratic";
}

TEST(Reading, OfTextInQuotesThatDoNotCloseTakesAsLongAsItIs) {
  const auto fail_at = [](std::size_t quotes) {
    const std::string text =
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 a" +
        std::string(quotes, '"') + ")\n{ret;}\n";
    EXPECT_THROW(read_ptx(text, "k.ptx"), UserError);
  };
  EXPECT_LT(growth([&] { fail_at(20'000); }, [&] { fail_at(160'000); }), 24);
}

/// A store needs to know of the loads since the last one like it, a load of the last store.
TEST(Dependences, AreAFewForEachLoadAndStore) {
  const unsigned count = 2000;
  SourceModule module = read_ptx(shapes[0].text(count), "k.ptx");
  for (const ir::Block& block : module.functions[1].code.blocks) {
    std::size_t edges = 0;
    const auto size = static_cast<std::uint32_t>(block.operations.size());
    for (const auto& of_one : lowering::dependences(block.operations.data(), size))
      edges += of_one.size();
    EXPECT_LT(edges, 4 * std::size_t{size});
  }
}

}  // namespace
}  // namespace lockstep::isa::loading_growth_test
