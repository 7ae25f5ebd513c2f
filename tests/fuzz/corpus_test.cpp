/// Every file of the corpora, among them what fuzzing has found, is understood or refused well.
#include "tests/fuzz/corpus.hpp"

#include <gtest/gtest.h>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

TEST(Corpora, AreUnderstoodOrRefusedWell) {
  for (const Corpus& corpus : corpora) {
    const auto files = files_of(corpus);
    EXPECT_GT(files.size(), 0u) << corpus.name;
    for (const auto& [name, bytes] : files)
      EXPECT_NO_THROW(corpus.input(bytes)) << corpus.name << "/" << name;
  }
}

TEST(Corpora, WhoRefusesSaysWhatToDo) {
  EXPECT_NO_THROW(refused_well([] { throw UserError("a:1", "is wrong", "write it right"); }));
  EXPECT_THROW(refused_well([] { throw UserError("a:1", "is wrong", ""); }), std::logic_error);
}

}  // namespace
}  // namespace lockstep
