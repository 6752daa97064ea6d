/// `attune compile` on small disks, killed, and beside itself: whole files, or those that were there before.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "tests/hostile/limited_program.h"
#include "tests/hostile/small_graph.h"
#include "tests/skip.h"
#include "tests/tools/program.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

using Files = std::map<std::string, std::string>;  // name, bytes; folders are empty text

Files files_of(const Folder& folder) {
  Files files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "."))
    files.emplace(entry.path().filename(), entry.is_regular_file() ? contents(entry) : "");
  return files;
}

/// A graph, and the folder that its kernels go to.
struct Compilation {
  Folder source, out;
  std::string graph = source.write("twice.mlir", twice);

  Words words(const Words& more = {}) const {
    Words words{ATTUNE_PROGRAM, "compile", graph, "--target", "x86-64-v3", "--size", "large", "--shared", "-o", out / "."};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// The files of a compilation that nothing disturbs, which are then in the folder.
  Files compiled(const Words& more = {}) const {
    const Ran ran = run_program(words(more));
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    return files_of(out);
  }

  /// Files of these names, whatever else is there.
  Files put_old_files() const {
    Files files;
    for (const char* name : {"twice.h", "twice.hpp", "twice.json", "twice.o", "twice.so"})
      files.emplace(name, contents(out.write(name, std::string("old ") + name)));
    return files;
  }
};

/// One sentence of the program's and no second line.
void check_sentence(const std::string& said, const std::string& reason) {
  INFO(said);
  CHECK(said.starts_with("attune: '"));
  CHECK(said.find("cannot be written: ") != std::string::npos);
  CHECK(said.find(reason) != std::string::npos);
  CHECK(std::ranges::count(said, '\n') == 1);
}

/// Ends the compilation after this time. Each file is one of the old or one of the new ones, and the shared object is new only if all are.
void check_killed(const Compilation& compilation, const Files& old, const Files& fresh, std::chrono::microseconds after) {
  const pid_t program = start_program(compilation.words());
  std::this_thread::sleep_for(after);
  kill(program, SIGKILL);
  end_of(program);
  const Files left = files_of(compilation.out);
  INFO("killed after " << after.count() << " us");
  for (const auto& [name, bytes] : old) {
    INFO(name);
    REQUIRE(left.contains(name));
    CHECK((left.at(name) == bytes || left.at(name) == fresh.at(name)));
    if (left.at("twice.so") == fresh.at("twice.so")) CHECK(left.at(name) == fresh.at(name));
  }
}

/// Kills `count` compilations at random moments of their lives, and `count` in the moments around their ends.
void check_kills(int count) {
  const Compilation compilation;
  const Files fresh = compilation.compiled();
  const auto start = Clock::now();
  compilation.compiled();
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  const auto seed = std::random_device{}();
  std::cout << "compiled_files: seed " << seed << std::endl;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2 * count; ++i) {
    const auto span = i % 2 == 0 ? whole : whole / 5;
    const std::chrono::microseconds after((i % 2 == 0 ? 0 : whole.count() * 4 / 5) +
                                          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span.count())));
    INFO("seed " << seed);
    check_killed(compilation, compilation.put_old_files(), fresh, after);
  }
  CHECK(compilation.compiled() == fresh);  // and nothing beside: what the killed ones left is gone
}

}  // namespace

TEST_CASE("a compilation that may not write large files leaves what was there, and says why", "[files]") {
  const Compilation compilation;
  const Files fresh = compilation.compiled(), old = compilation.put_old_files();
  for (const std::size_t limit : {0, 1, 100, 500, 1'000, 4'096, 20'000, 40'000, 47'000, 60'000}) {
    INFO(limit);
    const LimitedEnd end = run_limited(compilation.words(), limit);
    CHECK(end.status == 2);
    check_sentence(end.said, "File too large");
    CHECK(files_of(compilation.out) == old);
  }
  CHECK(run_limited(compilation.words(), 1'000'000).status == 0);
  CHECK(files_of(compilation.out) == fresh);
}

TEST_CASE("a compilation on a full disk leaves what was there, and says why", "[files]") {
  const Compilation compilation;
  const std::string place = compilation.out / "disk";
  fs::create_directory(place);
  const std::string mount = "mount -t tmpfs -o size=\"$1\" none '" + place + "' && cd '" + place + "' || exit 77; ";
  if (run_program({"unshare", "-m", "sh", "-c", mount + "true", "sh", "16k"}).status != 0)
    return skip("a disk of its own takes the right to mount");
  const std::string body =
      "echo old > twice.so; '" ATTUNE_PROGRAM "' compile '" + compilation.graph +
      "' --target x86-64-v3 --size large --shared -o . > /dev/null; status=$?; ls -A | tr '\\n' ' '; cat twice.so; exit $status";
  int failed = 0;
  for (const char* size : {"4k", "8k", "16k", "32k", "64k", "128k", "192k", "256k", "1m"}) {
    const Ran ran = run_program({"unshare", "-m", "sh", "-c", mount + body, "sh", size});
    INFO(size << ": " << ran.out << ran.err);
    if (ran.status == 0) {
      CHECK(ran.out.starts_with("twice.h twice.hpp twice.json twice.o twice.so "));
      continue;
    }
    ++failed;
    CHECK(ran.status == 2);
    check_sentence(ran.err, "No space left on device");
    CHECK(ran.out == "twice.so old\n");
  }
  CHECK(failed > 3);
  CHECK(failed < 9);
}

TEST_CASE("a killed compilation leaves whole files, and the next one removes its folder", "[files]") { check_kills(10); }

TEST_CASE("many killed compilations leave whole files", "[files][.hostile]") { check_kills(200); }

TEST_CASE("compilations into one folder at once leave the files of one of them", "[files]") {
  const Compilation compilation;
  const Words other{"--set", "columns=3"};
  const Files one = compilation.compiled(), two = compilation.compiled(other);
  REQUIRE(one.at("twice.json") != two.at("twice.json"));
  std::vector<pid_t> programs;
  for (int i = 0; i < 6; ++i) programs.push_back(start_program(compilation.words(i % 2 == 0 ? Words() : other)));
  for (const pid_t program : programs) CHECK(end_of(program) == 0);
  const Files left = files_of(compilation.out);
  CHECK((left == one || left == two));
}

TEST_CASE("a folder where a file should go is refused before anything is compiled", "[files]") {
  const Compilation compilation;
  for (const char* name : {"twice.h", "twice.so"}) {
    fs::create_directory(compilation.out / name);
    const Ran ran = run_program(compilation.words(), {{"PATH", "/nowhere"}});  // no linker: who compiled first would say so
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: '" + (compilation.out / "." / name).string() + "': cannot be written: Is a directory\n");
    CHECK(files_of(compilation.out) == Files{{name, ""}});
    fs::remove(compilation.out / name);
  }
}

TEST_CASE("a linker that fails is quoted", "[files]") {
  const Compilation compilation;
  const std::string linker = compilation.source.write("ld", "#!/bin/sh\necho 'ld: no memory for it' >&2\nexit 1\n");
  fs::permissions(linker, fs::perms::owner_all);
  const Ran ran = run_program(compilation.words(), {{"PATH", (compilation.source / ".").string() + ":/usr/bin:/bin"}});
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: '" + (compilation.out / "./twice.o").string() + "': cannot be written: 'ld' failed: ld: no memory for it\n");
  CHECK(files_of(compilation.out).empty());
}

TEST_CASE("a shared object that was linked and cannot be opened is not written", "[files]") {
  const Compilation compilation;
  const Files old = compilation.put_old_files();
  const std::string linker = compilation.source.write("c++", "#!/bin/sh\nfor word; do shift; case $word in *runtime.o) ;; *) set -- \"$@\" \"$word\";; esac; done\n"
                                                             "exec /usr/bin/c++ \"$@\"\n");  // without Halide's runtime
  fs::permissions(linker, fs::perms::owner_all);
  const Ran ran = run_program(compilation.words(), {{"PATH", (compilation.source / ".").string() + ":/usr/bin:/bin"}});
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  INFO(ran.err);
  CHECK(ran.err.starts_with("attune: '" + (compilation.out / "./twice.so").string() + "': cannot be written: what was linked cannot be opened: cannot be loaded: "));
  CHECK(ran.err.find("undefined symbol: halide_") != std::string::npos);
  CHECK(std::ranges::count(ran.err, '\n') == 1);
  CHECK(files_of(compilation.out) == old);
}

}  // namespace attune
