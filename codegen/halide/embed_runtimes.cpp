/// embed_runtimes FOLDER: writes Halide's runtimes for files of any targets of the table into the folder, and halide_runtimes.cpp, which
/// holds them.
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/halide/halide_target.h"

namespace {

using Targets = std::vector<const attune::TargetInfo*>;

/// What a file may hold: any target, and code for devices beside it.
std::vector<Targets> sets_of_targets() {
  std::vector<Targets> sets;
  for (const attune::TargetInfo& target : attune::targets()) {
    const std::size_t without_it = target.device == attune::Device::cpu ? 0 : sets.size();
    for (std::size_t i = 0; i < without_it; ++i) {
      if (sets[i].front()->triple != target.triple) continue;
      sets.push_back(sets[i]);
      sets.back().push_back(&target);
    }
    sets.push_back({&target});
  }
  return sets;
}

/// The bytes become part of the program as the assembler reads them from the object.
void write_all(const std::string& folder) {
  std::string bytes, entries;
  std::set<std::string> written;
  for (const Targets& together : sets_of_targets()) {
    const Halide::Target runtime = attune::halide_runtime_target(together);
    if (!written.insert(runtime.to_string()).second) continue;
    const std::string number = std::to_string(written.size()), file = folder + "/halide_runtime_" + number + ".o",
                      symbol = "attune_halide_runtime_" + number;
    Halide::compile_standalone_runtime(file, runtime);
    bytes += "asm(\".pushsection .rodata\\n" + symbol + ": .incbin \\\"" + file + "\\\"\\n" + symbol + "_end:\\n.popsection\");\n";
    bytes += "extern \"C\" const unsigned char " + symbol + "[], " + symbol + "_end[];\n";
    entries += "      {\"" + runtime.to_string() + "\", " + symbol + ", " + symbol + "_end},\n";
  }
  std::ofstream file(folder + "/halide_runtimes.cpp");
  file << "#include \"codegen/halide/halide_runtime.h\"\n\n"
       << bytes
       << "\nnamespace attune {\n\nstd::span<const BuiltInRuntime> built_in_runtimes() {\n"
          "  static const BuiltInRuntime runtimes[] = {\n"
       << entries << "  };\n  return runtimes;\n}\n\n}  // namespace attune\n";
  file.close();
  if (!file) throw std::runtime_error("'" + folder + "/halide_runtimes.cpp': cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "embed_runtimes: got %d arguments; expected a folder\n", argc - 1);
    return 2;
  }
  try {
    write_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed_runtimes: %s\n", error.what());
    return 1;
  }
}
