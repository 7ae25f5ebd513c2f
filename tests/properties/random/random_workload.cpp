/// The host's side of a random program: buffers of every kind, and its kernels launched on them.
#include "tests/properties/random/random_program.hpp"

namespace lockstep::testing {

std::string RandomProgram::workload_text() {
  const unsigned words = rows_.threads * words_per_thread;
  // Mostly device memory: the caches see no other.
  static const char* const kinds[] = {"device", "device", "device", "managed", "pinned"};
  std::string buffers, steps, launches, end;
  const auto buffer = [&](const std::string& name, const std::string& type, unsigned count,
                          const std::string& init) {
    const std::string kind = one_of(kinds);
    if (kind == "device") {
      if (!init.empty()) steps += "  - copy: {buffer: " + name + ", to: device}\n";
      end += "  - copy: {buffer: " + name + ", to: host}\n";
    } else if (chance(2)) {
      end += "  - read: " + name + "\n";
    }
    buffers += "  " + name + ": {type: " + type + ", count: " + number(count) +
               ", memory: " + kind + (init.empty() ? "" : ", init: {uniform: {" + init + "}}") +
               "}\n";
  };
  const unsigned streams = chance(4) ? 2 : 1;
  std::vector<std::string> shapes;
  for (const unsigned blocks : blocks_) {
    const unsigned threads = rows_.threads / blocks;
    const unsigned width = threads % 4 == 0 && chance(3) ? threads / 4 : threads;
    shapes.push_back("grid: [" + number(blocks) + "], block: [" + number(width) + ", " +
                     number(threads / width) + "]");
  }
  for (unsigned s = 0; s < streams; ++s) {
    const std::string n = number(s);
    buffer("a" + n, "u32", words, "");
    buffer("b" + n, "u32", words, "low: 0, high: 4000000000, seed: 3");
    buffer("woven" + n, "u8", rows_.bytes(), "low: 0, high: 255, seed: 4");
    buffer("common" + n, "u64", 2 * common_words, "low: 0, high: 4000000000000000, seed: 5");
  }
  for (unsigned k = 0; k < blocks_.size(); ++k)
    for (unsigned s = 0; s < streams; ++s) {
      const std::string n = number(s);
      launches += "  - launch: {kernel: k" + number(k) + ", " + shapes[k] + ", arguments: [" +
                  (k % 2 == 0 ? "a" + n + ", b" + n : "b" + n + ", a" + n) + ", woven" + n +
                  ", common" + n + ", 12345], stream: " + n + "}\n";
    }
  // Touching managed memory beside kernels only moves pages, but the last touch must find the
  // result.
  launches += "  - synchronize\n";
  return "module: kernels.ptx\nbuffers:\n" + buffers + "program:\n" + steps + launches + end;
}

}  // namespace lockstep::testing
