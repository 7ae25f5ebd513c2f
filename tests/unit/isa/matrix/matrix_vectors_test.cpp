/// Products against those of tests/references/matrix: exact rational arithmetic in Python.
///
/// The file in the tree has some of each kind; tests/references/matrix/test_vectors.py has many
/// made and names their file in LOCKSTEP_MATRIX_VECTORS.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/unit/isa/matrix/matrix_bench.hpp"
#include "tests/unit/isa/semantics/lane_machine.hpp"

namespace lockstep::isa::test::matrix_vectors_test {
namespace {

std::string vector_file() {
  const char* chosen = std::getenv("LOCKSTEP_MATRIX_VECTORS");
  return chosen != nullptr ? chosen
                           : LOCKSTEP_SOURCE_DIR "/tests/unit/isa/matrix/matrix_vectors.txt";
}

void expect_rows(const Rows& got, const Rows& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], expected[i])
        << std::hex << what << std::dec << ": word " << i % 32 << " of row " << i / 32;
}

TEST(MatrixVectors, AgreeWithRationalArithmeticAtEveryLevel) {
  std::ifstream file(vector_file());
  ASSERT_TRUE(file) << vector_file();
  unsigned count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string field; words >> field;) fields.push_back(field);
    ASSERT_EQ(fields.size(), 18U) << "line " << count + 1;
    const MatrixForm form = parse_form(fields);
    ASSERT_TRUE(is_supported(form)) << "line " << count + 1;
    const Registers registers{parse_rows(fields[14]), parse_rows(fields[15]),
                              parse_rows(fields[16])};
    ASSERT_EQ(registers.a.size(), registers_for(form).a.size()) << "line " << count + 1;
    ASSERT_EQ(registers.b.size(), registers_for(form).b.size()) << "line " << count + 1;
    const Rows expected = parse_rows(fields[17]);
    for (const CpuLevel level : levels())
      expect_rows(multiply(form, registers, level), expected,
                  name_of(form) + " " + name_of(form.arithmetic) + (form.wmma ? " wmma" : "") +
                      " line " + std::to_string(count + 1) + " level " +
                      std::to_string(static_cast<int>(level)));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count, 10U);
}

}  // namespace
}  // namespace lockstep::isa::test::matrix_vectors_test
