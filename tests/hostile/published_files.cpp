/// Files are written whole or not at all, and together or not at all.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "codegen/files/publish.h"
#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"
#include "tests/folder.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// What the body gives where files may have no more bytes than this.
template <class Body>
auto limited(rlim_t bytes, const Body& body) {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  auto result = body();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return result;
}

/// A folder whose process was killed, with a file in it.
void leave_scratch_folder(const Folder& folder) {
  const pid_t child = fork();
  if (child == 0) {
    const ScratchFolder scratch(folder / ".");
    if (write_file(scratch.file("half"), {"half"})) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("a file that is not written to its end leaves what was there", "[files]") {
  const Folder folder;
  const fs::path old = folder.write("old", "as it was"), fresh = folder / "fresh";
  const std::string text(10'000, 'x');
  for (const rlim_t bytes : {0, 1, 4096, 9'999}) {
    for (const fs::path& path : {old, fresh})
      CHECK(limited(bytes, [&] {
              return write_whole(path, {text.substr(0, 5'000), text.substr(5'000)});
            }) == "'" + path.string() + "': cannot be written: File too large");
    CHECK(contents(old) == "as it was");
    CHECK(folder.size() == 1);
  }
  CHECK(limited(10'000, [&] { return write_whole(old, {text}); }).empty());
  CHECK(contents(old) == text);
  CHECK(folder.size() == 1);
}

TEST_CASE("where no file can stand the reason is said", "[files]") {
  const Folder folder;
  const std::string place = (folder / ".").string();
  fs::create_symlink(folder / "self", folder / "self");
  const std::vector<std::pair<fs::path, std::string>> places = {{"/dev/full", "No space left on device"},
                                                                {folder / ".", "Is a directory"},
                                                                {folder / "none/x", "No such file or directory"},
                                                                {folder / "self", "Too many levels of symbolic links"},
                                                                {"/proc/none/x", "No such file or directory"}};
  for (const auto& [path, reason] : places) CHECK(write_whole(path, {"text"}) == "'" + path.string() + "': cannot be written: " + reason);
  CHECK(folder.size() == 1);
}

TEST_CASE("files get their places together, or all is as before", "[files]") {
  const Folder folder;
  const std::vector<std::string> names = {"a", "b", "c"};
  folder.write("a", "old a");
  fs::create_symlink("elsewhere", folder / "c");
  {
    const ScratchFolder scratch(folder / ".");
    for (const char* name : {"a", "b"}) REQUIRE(!write_file(scratch.file(name), {"new"}));  // c is missing: its renaming fails
    CHECK(publish(scratch, folder / ".", names) == "'" + (folder / "./c").string() + "': cannot be written: No such file or directory");
  }
  CHECK(contents(folder / "a") == "old a");
  CHECK(fs::read_symlink(folder / "c") == "elsewhere");
  CHECK(folder.size() == 2);
  {
    const ScratchFolder scratch(folder / ".");
    for (const std::string& name : names) REQUIRE(!write_file(scratch.file(name), {"new"}));
    CHECK(publish(scratch, folder / ".", names).empty());
  }
  for (const char* name : {"a", "b", "c"}) CHECK(contents(folder / name) == "new");
  CHECK(folder.size() == 3);
}

TEST_CASE("what a killed process left is removed, and nothing else", "[files]") {
  const Folder folder;
  for (const char* name : {".attune-scratch", ".attune", ".hidden.abcdef"}) fs::create_directory(folder / name);
  const ScratchFolder alive(folder / ".");
  REQUIRE(!write_file(alive.file("x"), {"x"}));
  leave_scratch_folder(folder);
  CHECK(folder.size() == 5);
  const ScratchFolder next(folder / ".");
  CHECK(folder.size() == 5);  // three that are others', two that are alive
  CHECK(contents(alive.file("x")) == "x");
}

}  // namespace attune
