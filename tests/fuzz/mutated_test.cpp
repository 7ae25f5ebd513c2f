/// Files of the corpora, changed at random for a while: what a build without libFuzzer can do.
///
/// LOCKSTEP_FUZZ_SECONDS: for each corpus; LOCKSTEP_SEED: begins with that.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/fuzz/corpus.hpp"

namespace lockstep {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::stoull(text) : otherwise;
}

class Mutations {
 public:
  Mutations(const Corpus& corpus, std::uint64_t seed) : files_(files_of(corpus)), dice_(seed) {}

  std::string next() {
    std::string bytes = any_file();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : dice_() % count; }
  const std::string& any_file() { return files_[below(files_.size())].second; }

  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size() + 1);
    const std::size_t length = std::min<std::size_t>(1 + below(40), bytes.size() - at);
    switch (below(6)) {
      case 0:  // another byte
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:  // said twice
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 3: {  // a piece of another file
        const std::string& other = any_file();
        bytes.insert(at, other.substr(below(other.size()), 1 + below(60)));
        break;
      }
      case 4: {  // a number that is at an edge
        static constexpr const char* edges[] = {"0",          "-1",         "1",
                                                "4294967296", "2147483648", "18446744073709551615",
                                                "1e308",      "0x",         "99999999999999999999"};
        bytes.replace(at, std::min(length, std::size_t{2}), edges[below(std::size(edges))]);
        break;
      }
      default:  // the end is missing
        if (below(8) == 0) bytes.resize(at);
    }
  }

  std::vector<std::pair<std::string, std::string>> files_;
  std::mt19937_64 dice_;
};

TEST(MutatedCorpora, AreUnderstoodOrRefusedWell) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::seconds time(number_of("LOCKSTEP_FUZZ_SECONDS", 1));
  const std::uint64_t seed = number_of("LOCKSTEP_SEED", std::random_device()());
  std::printf("LOCKSTEP_SEED %ju\n", std::uintmax_t{seed});
  std::fflush(stdout);  // before anything crashes
  for (const Corpus& corpus : corpora) {
    Mutations mutations(corpus, seed);
    std::size_t inputs = 0;
    for (const Clock::time_point begin = Clock::now(); Clock::now() < begin + time; ++inputs) {
      const std::string bytes = mutations.next();
      ASSERT_NO_THROW(corpus.input(bytes)) << corpus.name << ", input " << inputs << ":\n" << bytes;
    }
    std::printf("%s: %zu inputs\n", corpus.name, inputs);
  }
}

}  // namespace
}  // namespace lockstep
