/// lockstep_pages FOLDER           writes the generated pages of docs/
/// lockstep_pages --check FOLDER   fails if a page there differs from the generated one
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "core/error/error.hpp"
#include "core/output/reference.hpp"
#include "jobs/docs/output_contents.hpp"
#include "models/gpu/described_keys.hpp"

namespace lockstep {
namespace {

std::string parameters_page() {
  const std::string introduction =
      "# Parameters\n\nA quantity is written with its unit: `96KiB`, `45us`, `1312MHz`, `16GB/s`; "
      "a plain "
      "number counts what the\ncolumn `unit` says. A policy is written as its name, or as `{name: "
      "tree, "
      "threshold: 0.5}` with parameters of its\nown. `lockstep describe KEY` prints the same.\n\n";
  return introduction + page_of_keys();
}

void write_page(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.flush();
  if (!out) throw UserError(file, "cannot write", "name a folder that can be written to");
}

void check_page(const std::string& file, const std::string& text) {
  std::ifstream in(file);
  std::stringstream found;
  found << in.rdbuf();
  if (found.str() != text) throw UserError(file, "is out of date", "run lockstep_pages docs");
}

}  // namespace
}  // namespace lockstep

int main(int count, char** words) {
  const bool check = count == 3 && std::string(words[1]) == "--check";
  if (count != 2 && !check) {
    std::fputs("usage: lockstep_pages [--check] FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = words[count - 1];
  try {
    const auto handle = check ? lockstep::check_page : lockstep::write_page;
    handle(folder + "/parameters.md", lockstep::parameters_page());
    handle(folder + "/output.md", lockstep::output_page(lockstep::output_contents()));
  } catch (const lockstep::UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
