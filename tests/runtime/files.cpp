/// Opening kernel files: what is whole opens, everything else is refused in a sentence before anything of it runs.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>

#include "runtime/library.h"
#include "runtime/trailer.h"
#include "tests/runtime/kernel_files.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// The sentence that refuses the file, without its path; empty if it opened.
std::string refusal(const fs::path& path) {
  const Result<Library> library = Library::open(path);
  if (library) return "";
  const std::string who = "kernel file '" + path.string() + "': ";
  REQUIRE(library.error().message.rfind(who, 0) == 0);
  return library.error().message.substr(who.size());
}

std::string sum_of(const Library& library) {
  std::array<float, 2> a{1, 2}, b{10, 20}, out{};
  const Result<Kernel> add = library.kernel("add");
  if (!add) return add.error().message;
  const Result<void> called = (*add)(Tensor(a, {1, 2}), Tensor(b, {1, 2}), Tensor(out, {1, 2}));
  return called ? std::to_string(out[0] + out[1]) : called.error().message;
}

attune_trailer_v1 trailer_of(const std::string& bytes) {
  attune_trailer_v1 trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  return trailer;
}

std::string with_trailer(std::string bytes, const attune_trailer_v1& trailer) {
  std::memcpy(bytes.data() + bytes.size() - sizeof trailer, &trailer, sizeof trailer);
  return bytes;
}

const std::string no_trailer =
    "is truncated or no kernel file: its last 56 bytes are not Attune's trailer; expected a file that `attune compile --shared` wrote";

}  // namespace

TEST_CASE("a kernel file opens, and its kernels run after it is closed", "[files]") {
  const Folder folder;
  Result<Library> library = Library::open(kernel_file(folder, "kernels"));
  REQUIRE(library);
  CHECK(library->kernels().size() == 7);
  CHECK(library->kernels()[1].name() == "linear");
  CHECK(sum_of(*library) == std::to_string(33.0f));
  const Kernel add = library->kernel("add").value();
  library = Error{"closed"};
  std::array<float, 1> a{1}, b{2}, out{};
  add(Tensor(a, {1, 1}), Tensor(b, {1, 1}), Tensor(out, {1, 1})).value();
  CHECK(out[0] == 3);
}

TEST_CASE("names of kernels are checked", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels");
  const Library library = Library::open(path).value();
  CHECK(library.kernel("nothing").error().message ==
        "kernel file '" + path.string() +
            "': has no kernel 'nothing'; it holds add, linear, formulas, storages, choice, elsewhere, refuses");
  CHECK(library.kernel("elsewhere").error().message.find("this machine can run none of its targets") != std::string::npos);
}

TEST_CASE("what is no kernel file is refused", "[files]") {
  const Folder folder;
  CHECK(refusal(folder / "missing.so") == "cannot be read: No such file or directory");
  CHECK(refusal(folder / ".") == "is a folder or a device; expected a file that `attune compile --shared` wrote");
  CHECK(refusal("/dev/zero") == "is a folder or a device; expected a file that `attune compile --shared` wrote");
  CHECK(refusal(folder.write("empty.so", "")) == no_trailer);
  CHECK(refusal(folder.write("text.so", std::string(1000, 'x'))) == no_trailer);
  CHECK(refusal(fs::path(KERNEL_FILES) / "kernels.so") == no_trailer);
}

TEST_CASE("a shared object without kernels is refused, with a trailer too", "[files]") {
  const Folder folder;
  CHECK(refusal(kernel_file(folder, "foreign")) ==
        "has no table of kernels: it lacks the symbol attune_library_v1; `attune compile --shared` writes one");
  CHECK(refusal(kernel_file(folder, "newer")) == "is of ABI version 2; this runtime reads version 1");
  const fs::path text = folder.write("text.so", "no code");
  write_trailer(text).value();
  CHECK(refusal(text) == "holds no machine code; this machine is x86-64");
}

TEST_CASE("truncated, damaged and newer files are refused", "[files]") {
  const Folder folder;
  const std::string good = contents(kernel_file(folder, "kernels"));
  CHECK(refusal(folder.write("cut.so", good.substr(0, good.size() - 1))) == no_trailer);
  CHECK(refusal(folder.write("half.so", good.substr(0, good.size() / 2))) == no_trailer);

  const std::string shorter = good.substr(0, 100) + good.substr(101);
  const std::string length = std::to_string(good.size() - 56), one_less = std::to_string(good.size() - 57);
  CHECK(refusal(folder.write("shorter.so", shorter)) ==
        "is damaged: " + one_less + " bytes stand before its trailer, which says " + length + "; compile or copy it again");

  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  const std::string sentence = refusal(folder.write("flipped.so", flipped));
  CHECK(sentence.rfind("is damaged: the SHA-256 of its content is ", 0) == 0);

  attune_trailer_v1 trailer = trailer_of(good);
  trailer.format_version = 2;
  CHECK(refusal(folder.write("version.so", with_trailer(good, trailer))) ==
        "is of format version 2; this runtime reads version 1: compile the kernel again, or use the runtime it was compiled for");
  trailer.format_version = 1;
  trailer.reserved = 7;
  CHECK(refusal(folder.write("reserved.so", with_trailer(good, trailer))) ==
        "is damaged: the trailer's reserved field is 7, not 0; compile or copy it again");
}

TEST_CASE("a file for another architecture is refused", "[files]") {
  const Folder folder;
  std::string other = contents(fs::path(KERNEL_FILES) / "kernels.so");
#if defined(__x86_64__)
  other[18] = static_cast<char>(183);
  const std::string expected = "holds code for arm64; this machine is x86-64";
#else
  other[18] = 62;
  const std::string expected = "holds code for x86-64; this machine is arm64";
#endif
  const fs::path path = folder.write("other.so", other);
  write_trailer(path).value();
  CHECK(refusal(path) == expected);
}

TEST_CASE("no change of a kernel file is taken for the file", "[files]") {
  const Folder folder;
  const std::string good = contents(kernel_file(folder, "kernels"));
  const auto seed = std::random_device{}();
  std::cout << "files: seed " << seed << std::endl;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (int trial = 0; trial < 300; ++trial) {
    std::string changed = good;
    const std::size_t first = trial % 2 == 0 ? 0 : good.size() - 56;  // half of the changes hit the trailer
    switch (random() % 4) {
      case 0:
        changed[first + below(good.size() - first)] ^= static_cast<char>(1U << below(8));
        break;
      case 1:
        changed.resize(first + below(good.size() - first));
        break;
      case 2:
        changed.insert(first + below(good.size() - first), 1 + below(100), static_cast<char>(random()));
        break;
      default:
        changed.erase(first + below(good.size() - first), 1 + below(100));
    }
    if (changed == good) continue;
    INFO("seed " << seed << ", trial " << trial);
    REQUIRE(!refusal(folder.write("changed.so", changed)).empty());
  }
}

TEST_CASE("a file that is open is shared, and refused once it was replaced", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels");
  {
    const Library first = Library::open(path).value();
    fs::create_hard_link(path, folder / "link.so");
    for (const char* same : {"./kernels.so", "link.so"}) {
      const Library second = Library::open(folder / same).value();
      CHECK(&first.kernels()[0].manifest() == &second.kernels()[0].manifest());
    }
    kernel_file(folder, "product");
    fs::rename(folder / "product.so", path);
    CHECK(refusal(path) == "was replaced while it is open; close it and its kernels first, or give the new file another name");
    CHECK(sum_of(first) == std::to_string(33.0f));
  }
  const Library replaced = Library::open(path).value();
  CHECK(replaced.kernels().size() == 1);
  CHECK(replaced.kernels()[0].name() == "product");
}

TEST_CASE("write_trailer() leaves a whole file or none", "[files]") {
  const Folder folder;
  const fs::path path = folder.write("x.so", "content");
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read);
  write_trailer(path).value();
  const std::string written = contents(path);
  CHECK(written.substr(0, 7) == "content");
  CHECK(written.size() == 7 + 56);
  CHECK(trailer_of(written).length == 7);
  CHECK(fs::status(path).permissions() == (fs::perms::owner_all | fs::perms::group_read));
  CHECK(folder.size() == 1);
  CHECK(write_trailer(path).error().message == "kernel file '" + path.string() + "': has a trailer already");
  const fs::path missing = folder / "missing.so";
  CHECK(write_trailer(missing).error().message == "kernel file '" + missing.string() + "': cannot be read: No such file or directory");
  CHECK(folder.size() == 1);
}

}  // namespace attune
