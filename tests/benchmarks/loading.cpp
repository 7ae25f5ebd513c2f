/// What a module costs to load, by its size: seconds per MB of PTX and per 1,000 instructions, of
/// all cores together, so that neighbours on the machine do not count.
///
///   bench_loading [FILE.ptx...]
///
/// Without files it loads made-up modules: one long kernel, of which each row doubles the last, one
/// of a single block or of thousands, of which each row has four times as much, and many short
/// ones, of which all, or only one, are wanted.  A pass whose cost grows faster than the function
/// shows as a column that climbs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "core/error/error.hpp"
#include "models/isa/load.hpp"
#include "models/isa/module/module_linker.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/reader/reader.hpp"

namespace {

using namespace lockstep;

/// Some twenty instructions: loads, arithmetic, a copy, a short branch, now and then a loop.
std::string step(unsigned i) {
  const std::string n = std::to_string(i), value = "%f" + std::to_string(i % 24);
  const std::string next = "%f" + std::to_string((i * 7 + 3) % 24);
  std::string text =
      "ld.global.f32 %a" + n + ", [%rd1+" + std::to_string(4 * i % 4096) + "];\nshl.b32 %i" + n +
      ", %r1, " + std::to_string(i % 5) + ";\nadd.u32 %j" + n + ", %i" + n + ", " +
      std::to_string(16 * (i % 32)) + ";\nand.b32 %k" + n + ", %j" + n + ", 1020;\nmov.u32 %l" + n +
      ", tile;\nadd.u32 %m" + n + ", %l" + n + ", %k" + n + ";\nld.shared.f32 %b" + n + ", [%m" +
      n + "];\nfma.rn.f32 %c" + n + ", %a" + n + ", %b" + n + ", " + value + ";\nmov.f32 " + value +
      ", %c" + n + ";\nsetp.gt.f32 %p" + n + ", " + value + ", 0f3F800000;\n@%p" + n + " bra past" +
      n + ";\nsub.f32 " + next + ", " + next + ", %a" + n + ";\nmul.f32 " + next + ", " + next +
      ", %b" + n + ";\npast" + n + ":\n";
  if (i % 8 == 7)
    text += "mov.u32 %n" + n + ", 0;\nagain" + n + ":\nmul.f32 " + value + ", " + value + ", " +
            next + ";\nadd.u32 %n" + n + ", %n" + n + ", 1;\nsetp.lt.u32 %q" + n + ", %n" + n +
            ", %r2;\n@%q" + n + " bra again" + n + ";\nst.shared.f32 [%m" + n + "], " + value +
            ";\nbar.sync 0;\n";
  return text;
}

std::string kernel(const std::string& name, unsigned steps) {
  const std::string n = std::to_string(steps);
  std::string text = ".visible .entry " + name + "(.param .u64 out, .param .u32 n)\n{\n";
  for (const char* words : {".pred %p", ".pred %q", ".f32 %a", ".f32 %b", ".f32 %c", ".b32 %i",
                            ".b32 %j", ".b32 %k", ".b32 %l", ".b32 %m", ".b32 %n"})
    text += ".reg " + std::string(words) + "<" + n + ">;\n";
  text +=
      ".reg .f32 %f<24>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n.shared .align 4 .b8 tile[2048];\n"
      "ld.param.u64 %rd1, [out];\nld.param.u32 %r2, [n];\nmov.u32 %r1, %tid.x;\n";
  for (unsigned v = 0; v < 24; ++v)
    text += "ld.global.f32 %f" + std::to_string(v) + ", [%rd1+" + std::to_string(4 * v) + "];\n";
  for (unsigned i = 0; i < steps; ++i) text += step(i);
  for (unsigned v = 0; v < 24; ++v)
    text += "st.global.f32 [%rd1+" + std::to_string(4 * v) + "], %f" + std::to_string(v) + ";\n";
  return text + "ret;\n}\n";
}

/// Groups of eight loads and of sums with them; a branch around each, or all in one block.
std::string groups(unsigned count, unsigned sums, bool branches) {
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 a, .param .u32 n)\n{{\n.reg .f32 %f<{}>, %l<{}>; .reg .b64 "
      "%rd<2>; .reg .pred %p<{}>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, "
      "[n];\n",
      sums, 8 * count, count);
  for (unsigned s = 0; s < sums; ++s) text += fmt::format("mov.f32 %f{}, 0f00000000;\n", s);
  for (unsigned i = 0; i < count; ++i) {
    if (branches) text += fmt::format("setp.lt.s32 %p{0}, %r1, {0};\n@%p{0} bra past{0};\n", i);
    for (unsigned k = 8 * i; k < 8 * i + 8; ++k)
      text += fmt::format("ld.global.f32 %l{}, [%rd1+{}];\n", k, 4 * (k % 1024));
    for (unsigned s = 0; s < sums; ++s)
      text += fmt::format("fma.rn.f32 %f{0}, %l{1}, %l{2}, %f{0};\n", s, 8 * i + s % 8,
                          8 * i + (3 * s + 1) % 8);
    if (branches) text += fmt::format("past{}:\n", i);
  }
  for (unsigned s = 0; s < sums; ++s)
    text += fmt::format("st.global.f32 [%rd1+{}], %f{};\n", 4 * s, s);
  return text + "ret;\n}\n";
}

/// Of this process, in all its threads.
double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Loads it with all kernels, or the first.
void measure(const std::string& text, const std::string& file, bool all) {
  const double start = seconds();
  std::vector<isa::SourceModule> modules;
  modules.push_back(isa::read_ptx(text, file));
  isa::ModuleLoader loader(isa::link_modules(std::move(modules)));
  isa::Module module = loader.module();
  const double read = seconds() - start;
  if (all) {
    loader.load_all(module);
  } else {
    loader.load(module, std::vector<std::uint32_t>{0});
  }
  const double loaded = seconds() - start;
  std::size_t instructions = 0, longest = 0;
  for (const isa::Kernel& kernel : module.kernels) {
    instructions += kernel.reference.instructions.size();
    longest = std::max(longest, kernel.reference.instructions.size());
  }
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%-26s %8.2f %7zu %8zu %8zu %8.3f %8.3f %8.3f %14.3f\n", file.c_str(), megabytes,
              module.kernels.size(), instructions, longest, read, loaded, loaded / megabytes,
              1000 * (loaded - read) / static_cast<double>(std::max<std::size_t>(1, instructions)));
}

void measure_made_up() {
  const std::string header = ".version 7.8\n.target sm_75\n.address_size 64\n";
  for (unsigned steps = 60; steps <= 1920; steps *= 2)
    measure(header + kernel("k", steps), "one kernel", true);
  for (const unsigned count : {50u, 200u, 800u})
    measure(header + groups(count, 64, false), "one block", true);
  for (const unsigned count : {500u, 2000u, 8000u})
    measure(header + groups(count, 4, true), fmt::format("{} branches", count), true);
  for (const unsigned count : {10u, 40u, 160u}) {
    std::string text = header;
    for (unsigned k = 0; k < count; ++k) text += kernel(fmt::format("k{}", k), 60);
    measure(text, "all of " + std::to_string(count), true);
    measure(text, "first of " + std::to_string(count), false);
  }
}

}  // namespace

int main(int count, char** files) {
  std::printf("%-26s %8s %7s %8s %8s %8s %8s %8s %14s\n", "module", "MB", "kernels", "instr.",
              "longest", "read, s", "all, s", "s/MB", "s/1000 instr.");
  try {
    if (count == 1) measure_made_up();
    for (int f = 1; f < count; ++f) {
      std::ifstream in(files[f], std::ios::binary);
      if (!in) throw UserError(files[f], "cannot be opened", "check its name");
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      measure(text, std::filesystem::path(files[f]).filename().string(), true);
    }
  } catch (const UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
