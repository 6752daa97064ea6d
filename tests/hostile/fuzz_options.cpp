/// Words of a command line, one on each line: what they ask for is prepared and taken to stages, but not run.
#include <memory>
#include <sstream>

#include "codegen/passes/compile.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/attune/commands.h"
#include "tools/attune/options.h"
#include "tools/attune/work.h"

namespace attune {
namespace {

/// Words without the zeros that no argument of a program can have.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words{"attune"};
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line) && words.size() < 64;) words.push_back(line.substr(0, line.find('\0')));
  return words;
}

Program::Chosen parse(Program& program, std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return program.parse(static_cast<int>(words.size()), pointers.data());
}

void parse_all_commands(std::vector<std::string> words) {
  Program program{"attune", "", "", ""};
  for (const auto add : {add_list, add_show, add_compile, add_run, add_check, add_bench, add_explain, add_tune}) add(program);
  require_sentence(parse(program, words).problem);
}

struct PreparedOptions : Options {
  std::string shape;
};

void prepare_options(std::vector<std::string> words) {
  Program program{"attune", "", "", ""};
  PreparedOptions options;
  for (const char* name : {"show", "compile", "check", "run", "bench", "explain"}) {
    const Command command = program.command(name, "");
    add_graph_options(command, options);
    command.text("--shape", options.shape, "");
    command.action([] { return 0; });
  }
  const Program::Chosen chosen = parse(program, words);
  require_sentence(chosen.problem);
  if (!chosen.problem.empty() || options.graph.graph.find_first_of("./") != std::string::npos) return;
  options.tuned.clear();  // paths: fuzz_tuned has what stands in such files
  const Prepared prepared = prepare(options);
  require_sentence(prepared.problem);
  if (!prepared.problem.empty()) return;
  require_sentence(fill_shape(prepared, options.shape).problem);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  require_sentence(compile_to_stages(prepared.graph.graph, prepared.graph.name, prepared.graph.parameters, prepared.staging, context).problem);
}

}  // namespace
}  // namespace attune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = attune::words_of({reinterpret_cast<const char*>(data), size});
  attune::parse_all_commands(words);
  attune::prepare_options(words);
  return 0;
}
