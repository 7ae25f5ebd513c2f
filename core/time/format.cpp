#include "core/time/format.hpp"

#include <array>
#include <cstdio>

namespace lockstep {

std::string to_text(Time time) {
  if (time == Time::never()) return "never";
  struct Unit {
    std::int64_t femtoseconds;
    const char* name;
  };
  static constexpr std::array<Unit, 5> units{{{1'000'000'000'000'000, "s"},
                                              {1'000'000'000'000, "ms"},
                                              {1'000'000'000, "us"},
                                              {1'000'000, "ns"},
                                              {1'000, "ps"}}};
  std::array<char, 48> text{};
  for (const Unit& unit : units) {
    if (time.femtoseconds() >= unit.femtoseconds) {
      // Thousandths in integers: the same text everywhere.
      const std::int64_t whole = time.femtoseconds() / unit.femtoseconds;
      const std::int64_t thousandths =
          time.femtoseconds() % unit.femtoseconds / (unit.femtoseconds / 1000);
      std::snprintf(text.data(), text.size(), "%lld.%03lld %s", static_cast<long long>(whole),
                    static_cast<long long>(thousandths), unit.name);
      return text.data();
    }
  }
  std::snprintf(text.data(), text.size(), "%lld fs", static_cast<long long>(time.femtoseconds()));
  return text.data();
}

}  // namespace lockstep
