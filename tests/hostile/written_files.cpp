/// What the other commands write where there is no room, and what becomes of outputs that are closed or full.
#include <catch2/catch.hpp>
#include <string>

#include "tests/hostile/limited_program.h"
#include "tests/hostile/small_graph.h"
#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// Runs the line in a shell, in the folder; $A is attune, $O is attune-opt.
Ran shell(const Folder& folder, const std::string& line) {
  return run_program({"sh", "-c", "cd '" + (folder / ".").string() + "' || exit 9; " + line}, {{"A", ATTUNE_PROGRAM}, {"O", ATTUNE_OPT}});
}

}  // namespace

TEST_CASE("run leaves the array that was there if the new one has no room", "[files]") {
  const Folder folder;
  const std::vector<float> values(1'000, 1);
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) REQUIRE(write_npy(folder / name, NpyArray::of<float>({1, 1, 10, 100}, values)));
  const std::string out = folder.write("out.npy", "old");
  Words words{ATTUNE_PROGRAM, "run", "causal", "--interpret", "--out", "out=" + out};
  for (const char* name : {"q", "k", "v"})
    words.insert(words.end(), {"--in", std::string(name) + "=" + (folder / (std::string(name) + ".npy").c_str()).string()});
  for (const std::size_t limit : {0, 100, 8'127}) {
    const LimitedEnd end = run_limited(words, limit);
    CHECK(end.status == 2);
    CHECK(end.said == "attune: '" + out + "': cannot be written: File too large\n");
    CHECK(contents(out) == "old");
    CHECK(folder.size() == 4);
  }
  CHECK(run_limited(words, 8'128).status == 0);  // 128 bytes before 1000 doubles
}

TEST_CASE("a tuning run ends with a sentence when its state cannot be kept any more", "[files]") {
  const Folder folder;
  folder.write("twice.mlir", twice);
  const Ran ran =
      shell(folder,
            "\"$A\" tune twice.mlir --shape rows=8,columns=8 --threads 1 --budget 100s --out t.json & "
            "until [ -f t.json.state ]; do sleep 0.01; done; until rm -f t.json.state && mkdir t.json.state; do :; done; wait $!");
  INFO(ran.err);
  CHECK(ran.status == 2);
  CHECK(ran.err.ends_with("\nattune: 't.json.state': cannot be written: Is a directory\n"));
  CHECK(folder.size() == 2);
}

TEST_CASE("a sentence that nobody can read is still exit status 2", "[files]") {
  const Folder folder;
  for (const char* command : {"nonsense", "check nonsense", "compile causal -o /dev/null"}) {
    INFO(command);
    CHECK(shell(folder, std::string("\"$A\" ") + command + " 2>/dev/full").status == 2);
    CHECK(shell(folder, std::string("\"$A\" ") + command + " 2>&-").status == 2);
  }
}

TEST_CASE("a closed output becomes no file that is written", "[files]") {
  const Folder folder;
  const Ran ran = shell(folder, "\"$A\" list ops >&-");
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: standard output: cannot be written: Bad file descriptor\n");
  CHECK(shell(folder, "\"$A\" show causal --stage assembly --target x86-64-v3 --set depth=8 --size tiny <&- >&- 2>&-").status == 2);
}

TEST_CASE("attune-opt writes all of a module or says why not", "[files]") {
  const Folder folder;
  folder.write("in.mlir", attune_says({"show", "causal", "--stage", "mlir"}));
  folder.write("out.mlir", "old");
  const Ran full = shell(folder, "\"$O\" in.mlir --attn-expand > /dev/full");
  CHECK(full.status == 2);
  CHECK(full.err == "attune-opt: standard output: cannot be written: No space left on device\n");
  const LimitedEnd limited = run_limited({ATTUNE_OPT, folder / "in.mlir", "--attn-expand", "-o", folder / "out.mlir"}, 100);
  CHECK(limited.status == 2);
  CHECK(limited.said == "attune-opt: '" + (folder / "out.mlir").string() + "': cannot be written: File too large\n");
  CHECK(contents(folder / "out.mlir") == "old");
  CHECK(shell(folder, "\"$O\" nowhere.mlir 2>&1").out == "attune-opt: cannot open input file 'nowhere.mlir': No such file or directory\n");
  CHECK(folder.size() == 2);
}

TEST_CASE("attune-opt refuses with exit status 2", "[files]") {
  const Folder folder;
  folder.write("in.mlir", attune_says({"show", "causal", "--stage", "mlir"}));
  folder.write("none.mlir", "no MLIR");
  for (const char* words : {"none.mlir", "in.mlir --attn-specialise=set=depth=x", "in.mlir --nosuch", "nowhere.mlir"}) {
    INFO(words);
    CHECK(shell(folder, std::string("\"$O\" ") + words).status == 2);
  }
}

}  // namespace attune
