/// Traces of the misses of a program on a CPU core (see cpu_program.hpp).
#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include "models/workload/cpu/cpu_program.hpp"

namespace lockstep {

namespace {

/// A line of a trace, word by word.
class TraceLine {
 public:
  TraceLine(const std::string& file, std::size_t number, std::string_view text)
      : file_(file), number_(number), text_(text.substr(0, text.find('#'))) {
    skip_blanks();
  }

  bool at_end() const { return position_ == text_.size(); }
  UserError error(const std::string& what, const std::string& advice) const {
    return {file_ + ":" + std::to_string(number_) + ":" + std::to_string(begun_ + 1), what, advice};
  }
  void end() {
    begun_ = position_;
    if (!at_end()) throw error("is a word too many", form);
  }
  /// Reads the next number. `what`: its name in messages.
  std::uint64_t number(const char* what) {
    begun_ = position_;
    const std::size_t end = std::min(text_.find_first_of(blanks, position_), text_.size());
    std::string_view word = text_.substr(position_, end - position_);
    position_ = end;
    skip_blanks();
    const bool hexadecimal = word.starts_with("0x");
    if (hexadecimal) word.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [rest, problem] =
        std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
    if (problem != std::errc() || rest != word.data() + word.size())
      throw error(std::string("needs ") + what + ", a number", form);
    return value;
  }

 private:
  static constexpr const char* blanks = " \t\r";
  static constexpr const char* form = "write lines like `12 0x1f40` or `12 0x1f40 0x80`";
  void skip_blanks() {
    position_ = std::min(text_.find_first_not_of(blanks, position_), text_.size());
  }

  const std::string& file_;
  const std::size_t number_;
  const std::string_view text_;
  std::size_t position_ = 0, begun_ = 0;
};

std::uint64_t line_at(TraceLine& line, const char* what, const CpuProgram& program) {
  const std::uint64_t address = line.number(what);
  if (address < program.memory.count()) return address / cpu_line_bytes * cpu_line_bytes;
  throw line.error("address " + std::to_string(address) + " lies outside of the tenant's memory, " +
                       std::to_string(program.memory.count()) + " bytes",
                   "raise the tenant's cpu.memory or correct the trace");
}

}  // namespace

void read_cpu_trace(const std::string& file, const std::string& where, CpuProgram& program) {
  std::ifstream in(file);
  std::vector<TracedAccess> accesses;
  std::uint64_t instructions = 0;
  std::size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    TraceLine line(file, ++number, text);
    if (line.at_end()) continue;
    constexpr std::uint64_t most = 1'000'000'000'000;
    instructions += line.number("how many instructions go before a miss");
    if (instructions > most)
      throw line.error("the trace has more than 1e12 instructions", "split it");
    accesses.push_back({instructions, line_at(line, "the address that is read", program), false});
    if (!line.at_end())
      accesses.push_back(
          {instructions, line_at(line, "the address that is written", program), true});
    line.end();
    ++instructions;
  }
  if (in.bad()) throw UserError(file, "cannot be read", "check that it is a file");
  if (accesses.empty()) throw UserError(where, file + " holds no access", "name a trace");
  program.trace_instructions = instructions;
  program.trace = std::make_shared<const std::vector<TracedAccess>>(std::move(accesses));
}

}  // namespace lockstep
