#include "core/parameters/document.hpp"
#include "models/workload/workload.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {
namespace {

void evaluate(const Expression& expression, const Variables& variables) {
  if (expression.given()) refused_well([&] { expression.evaluate_integer(variables, 0, 1 << 20); });
}

void evaluate_all(const std::vector<Step>& steps, const Variables& variables) {
  for (const Step& step : steps) {
    for (const Expression* expression :
         {&step.offset, &step.count, &step.value, &step.times, &step.index, &step.equals,
          &step.shared, &step.registers, &step.grid[0], &step.block[0]})
      evaluate(*expression, variables);
    for (const Step::Argument& argument : step.arguments) {
      if (argument.words.empty()) evaluate(argument.expression, variables);
      for (const Step::Argument& word : argument.words) evaluate(word.expression, variables);
    }
    evaluate_all(step.body, variables);
  }
}

}  // namespace

void workload_input(const std::string& bytes) {
  refused_well([&] {
    const Workload workload = read_workload(parse_document(bytes, "fuzz.yaml"), Node());
    evaluate_all(workload.program, workload.parameters);
  });
}

}  // namespace lockstep
