/// The command line where things go wrong around it: full disks, closed pipes, signals, folders with spaces.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

#include "tests/skip.h"
#include "tests/tools/headers.h"
#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// Runs the line in a shell, in the folder; $A is attune.
Ran shell(const Folder& folder, const std::string& line) {
  return run_program({"sh", "-c", "cd '" + (folder / ".").string() + "' || exit 9; " + line}, {{"A", ATTUNE_PROGRAM}});
}

}  // namespace

TEST_CASE("a full disk is said, not passed over", "[command line]") {
  const Folder folder;
  for (const char* command : {"list ops", "show causal", "show causal --stage assembly", "explain causal --json", "check causal", "--help", "--version"}) {
    INFO(command);
    const Ran ran = shell(folder, std::string("exec \"$A\" ") + command + " > /dev/full");
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: standard output: cannot be written: No space left on device\n");
  }
}

TEST_CASE("a pipe that is closed early ends the program without a word", "[command line]") {
  const Folder folder;
  const Ran ran = shell(folder, "\"$A\" show causal --stage assembly | head -n 1");
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
}

TEST_CASE("a compilation that is stopped leaves nothing behind", "[command line]") {
  for (const char* signal : {"TERM", "HUP"}) {
    const Folder folder, temporary;
    // two targets take long enough for the shell to see the folder of the compilation
    const Ran ran = shell(folder, std::string("\"$A\" compile multi_head --shared --target x86-64-v3,x86-64-v4 & "
                                              "while [ -z \"$(ls -A)\" ] && kill -0 $!; do sleep 0.01; done; ls -A; kill -") + signal + " $!; wait $!");
    INFO(ran.out << ran.err);
    CHECK(ran.status == 128 + (std::string(signal) == "TERM" ? SIGTERM : SIGHUP));
    CHECK_THAT(ran.out, Catch::StartsWith(".attune-scratch."));
    CHECK(folder.size() == 0);
  }
}

TEST_CASE("a command that is stopped while it compiles a kernel or a header leaves no temporary files", "[command line]") {
  const Folder folder, temporary;
  folder.write("good.h", good_header);
  // a compiler that takes its time, and has a file of its own among the temporary ones, as GCC has
  std::filesystem::permissions(folder.write("slow", "#!/bin/sh\n: > \"$TMPDIR/cc.s\"\nexec sleep 1\n"), std::filesystem::perms::owner_all);
  for (const char* command : {"check multi_head --target x86-64-v3,x86-64-v4", "check good.h --struct Reach"}) {
    const std::string tmp = (temporary / ".").string();
    const Ran ran = shell(folder, "export TMPDIR='" + tmp + "' CXX=\"$PWD/slow\"; \"$A\" " + command + " & while [ -z \"$(ls -A \"$TMPDIR\")\" ] && kill -0 $!; do sleep 0.01; done; "
                                  "ls -A \"$TMPDIR\"; kill -TERM $!; wait $!");
    INFO(command << ran.out << ran.err);
    CHECK(ran.status == 128 + SIGTERM);
    CHECK_THAT(ran.out, Catch::StartsWith(".attune-scratch."));
    CHECK(temporary.size() == 0);
  }
}

TEST_CASE("a tuning run that is stopped or crashes while it compiles a candidate leaves no temporary files", "[command line]") {
  for (const char* signal : {"HUP", "SEGV"}) {
    const Folder folder, temporary;
    const std::string tmp = (temporary / ".").string();
    // its folder holds one for each kernel, and that a hidden one while the kernel is compiled;
    // the address sanitizer leaves the signal to the program
    const Ran ran = shell(folder, "export ASAN_OPTIONS=handle_segv=0 TMPDIR='" + tmp + "'; \"$A\" tune causal --shape queries=40,keys=70 --threads 1 & while [ -z \"$(ls -d \"$TMPDIR\"/.a*/*/.[a-z]* 2>&-)\" ] && "
                                  "kill -0 $!; do sleep 0.01; done; ls -A \"$TMPDIR\"; kill -" + signal + " $!; wait $!");
    INFO(ran.out << ran.err);
    CHECK(ran.status == 128 + (std::string(signal) == "HUP" ? SIGHUP : SIGSEGV));
    CHECK_THAT(ran.out, Catch::StartsWith(".attune-scratch."));
    CHECK(temporary.size() == 0);
  }
}

TEST_CASE("where memory is short there is a sentence", "[command line]") {
  if (is_sanitized) return skip("sanitizers take all of the memory's addresses");
  const Folder folder;
  REQUIRE(write_npy(folder / "large.npy", NpyArray::of<float>({1, 1, 1, 1}, std::vector<float>(1, 1))));
  // the header of an array of 4 GB is as long, with its blanks
  const std::string shape = "(1, 1, 32768, 32768), }";
  std::string header = contents(folder / "large.npy").substr(0, 128);
  header.replace(header.find("(1, 1, 1, 1), }"), shape.size(), shape);
  folder.write("large.npy", header);
  std::filesystem::resize_file(folder / "large.npy", header.size() + (std::uintmax_t{4} << 30));
  const Ran ran = shell(folder, "ulimit -v 3000000; \"$A\" run causal --in q=large.npy");
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: there is not enough memory; smaller extents take less\n");
}

TEST_CASE("paths that the system does not take are refused with its words", "[command line]") {
  const Folder folder;
  folder.write("good.h", good_header);
  const std::string name(300, 'n');
  for (const std::string& words : {"show " + name + ".mlir", "show " + name + ".h --struct X", "compile causal -o " + name, "tune causal --shape queries=5,keys=5 --out " + name}) {
    INFO(words);
    const Ran ran = shell(folder, "\"$A\" " + words);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.err, Catch::StartsWith("attune: ") && Catch::Contains("File name too long") && !Catch::Contains("internal"));
  }
}

TEST_CASE("names of files need not be UTF-8", "[command line]") {
  const Folder folder;
  const std::string name = "caf\xe9";
  folder.write((name + ".json").c_str(), R"({"target": "x86-64-v3", "defaults": [], "stages": {}, "tuned": []})");
  folder.write((name + ".h").c_str(), good_header);
  const Ran tuned = shell(folder, "\"$A\" explain causal --json --target x86-64-v3 --tuned " + name + ".json");
  INFO(tuned.err);
  CHECK(tuned.status == 0);
  const Ran explained = shell(folder, "\"$A\" explain " + name + ".h --struct Reach --json");
  INFO(explained.err);
  CHECK(explained.status == 0);
}

TEST_CASE("check finds extents that it can interpret, also of tokens in three roles", "[command line]") {
  const Folder folder;
  folder.write("pairs.h", R"(#include "dsl/variants/attention.h"
using namespace attune;
struct Pairs {
  static constexpr std::string_view name = "pairs", meaning = "out = softmax over k of a score of i, j and k, all of them the same tokens";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    auto [i, j, k, depth] = g.dims("i", "j", "k", "depth");
    const Value q = g.input("q", {i, depth});
    const Value scores = matmul(q * rename(q, i, j), rename(q, i, k), depth);
    g.output("out", matmul(softmax(scores, k), rename(q, i, k), k), {i, j, depth});
  }
};
)");
  const Ran ran = shell(folder, "\"$A\" check pairs.h --struct Pairs");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Contains("elements agree"));
}

TEST_CASE("each output goes to a file of its own", "[command line]") {
  const Folder folder;
  REQUIRE(write_npy(folder / "one.npy", NpyArray::of<float>({1, 1, 1, 1}, std::vector<float>(1, 1))));
  const std::string call = "\"$A\" run scaled_dot_product --interpret --param lse=true --in q=one.npy --in k=one.npy --in v=one.npy --out ";
  const Ran ran = shell(folder, call + "out=same.npy --out lse=./same.npy");
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: --out 'out=same.npy': is the file of output 'lse', too; each output needs one of its own\n");
  CHECK(shell(folder, call + "out=/dev/null --out lse=/dev/null").status == 0);
  CHECK(shell(folder, call + "out=out.npy --out lse=lse.npy").status == 0);
}

TEST_CASE("Ctrl-C ends the program as a shell expects", "[command line]") {
  const Folder folder;
  // a shell lets its background processes ignore Ctrl-C: timeout sends it to a process in the foreground
  const Ran ran = shell(folder, "timeout --foreground --preserve-status -s INT 0.3 \"$A\" compile multi_head --shared --target x86-64-v3,x86-64-v4,zen4");
  CHECK(ran.status == 128 + SIGINT);
  CHECK(folder.size() == 0);
}

TEST_CASE("without a folder for temporary files there is a sentence", "[command line]") {
  const Folder folder;
  folder.write("good.h", good_header);
  for (const char* command : {"check causal", "show good.h --struct Reach"}) {
    const Ran ran = shell(folder, std::string("TMPDIR=/nowhere \"$A\" ") + command);
    INFO(command);
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: the folder for temporary files, '/nowhere', cannot be written to: No such file or directory; TMPDIR names another\n");
  }
}

TEST_CASE("a header that needs a compiler says so where there is none", "[command line]") {
  const Folder folder;
  folder.write("good.h", good_header);
  const Ran ran = shell(folder, "CXX='nowhere -O1' \"$A\" show good.h --struct Reach");
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: 'good.h': is compiled by the system's C++ compiler, and there is no 'nowhere'; CXX names another\n");
}

TEST_CASE("CXX may have arguments, and an empty TMPDIR is none", "[command line]") {
  const Folder folder;
  folder.write("good.h", good_header);
  const Ran ran = shell(folder, "CXX='env c++ -O1' TMPDIR= \"$A\" show good.h --struct Reach");
  CHECK(ran.status == 0);
  CHECK(ran.err == "");
}

TEST_CASE("a header may include others from folders that are named, and a rule of make says which it read", "[command line]") {
  const Folder folder;
  std::filesystem::create_directories(folder / "my own");
  folder.write("my own/reach $1.h", good_header);
  folder.write("use.h", "#include \"reach $1.h\"\n");
  const std::string compile = "\"$A\" compile use.h --struct Reach --size tiny -o out ";
  const Ran missing = shell(folder, compile);
  CHECK(missing.status == 2);
  CHECK_THAT(missing.err, Catch::Contains("reach $1.h"));
  CHECK(shell(folder, compile + "-I nowhere").err == "attune: -I 'nowhere': is not a folder\n");
  CHECK(shell(folder, "\"$A\" show causal -I 'my own'").err == "attune: -I my own: is a folder of what a header includes; 'causal' is no header\n");
  const Ran made = shell(folder, compile + "-I 'my own' --depfile out/use.d && cat out/use.d");
  CHECK(made.status == 0);
  CHECK_THAT(made.out, Catch::Contains("out/reach.o: \\\n") && Catch::Contains("/use.h") && Catch::Contains("my\\ own/reach\\ $$1.h") && Catch::Contains("dsl/variants/attention.h"));
  CHECK_THAT(made.out, !Catch::Contains("variant.cpp"));
}

TEST_CASE("paths may have spaces, and the program may be called from anywhere", "[command line]") {
  const Folder folder;
  std::filesystem::create_directories(folder / "a b");
  folder.write("a b/my own.h", good_header);
  CHECK(shell(folder, "\"$A\" compile 'a b/my own.h' --struct Reach --size tiny --shared -o 'a b/new folder' && ls 'a b/new folder'").out ==
        "a b/new folder/reach.h\na b/new folder/reach.hpp\na b/new folder/reach.json\na b/new folder/reach.o\na b/new folder/reach.so\n"
        "reach.h\nreach.hpp\nreach.json\nreach.o\nreach.so\n");
  const std::vector<float> one(1, 1);
  REQUIRE(write_npy(folder / "a b/one.npy", NpyArray::of<float>({1, 1, 1, 1}, one)));
  const Ran ran = shell(folder, "cd / && for i in q k v; do set -- \"$@\" --in \"$i=$OLDPWD/a b/one.npy\"; done && "
                                "\"$A\" run \"$OLDPWD/a b/new folder/reach.so\" \"$@\" --out \"out=$OLDPWD/a b/out.npy\"");
  CHECK(ran.err == "");
  CHECK(ran.status == 0);
  const Result<NpyArray> out = read_npy(folder / "a b/out.npy");
  REQUIRE(out);
  CHECK((*out->values<float>())[0] == 1);
}

TEST_CASE("arrays are neither read from folders nor written to what is no file", "[command line]") {
  const Folder folder;
  const std::vector<float> one(1, 1);
  REQUIRE(write_npy(folder / "one.npy", NpyArray::of<float>({1, 1, 1, 1}, one)));
  const std::string call = "\"$A\" run causal --interpret --in q=one.npy --in k=one.npy ";
  CHECK(shell(folder, call + "--in v=one.npy --out out=/dev/full").status == 2);
  const Ran folder_read = shell(folder, "mkdir d.npy; " + call + "--in v=d.npy");
  CHECK(folder_read.status == 2);
  CHECK_THAT(folder_read.err, Catch::StartsWith("attune: ") && Catch::Contains("d.npy"));
  CHECK(std::count(folder_read.err.begin(), folder_read.err.end(), '\n') == 1);
  const Ran folder_written = shell(folder, call + "--in v=one.npy --out out=d.npy");
  CHECK(folder_written.status == 2);
  CHECK_THAT(folder_written.err, Catch::StartsWith("attune: ") && Catch::Contains("d.npy"));
}

}  // namespace attune
