/// Opening kernel files: what is whole opens, everything else is refused in a sentence before anything of it runs.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "runtime/library.h"
#include "runtime/trailer.h"
#include "runtime/words.h"
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

/// What sha256sum prints.
std::string file_sum(const fs::path& path) {
  const std::string bytes = contents(path);
  return text_of(sha256(std::as_bytes(std::span(bytes))));
}

Trailer trailer_of(const std::string& bytes) {
  Trailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  return trailer;
}

std::string with_trailer(std::string bytes, const Trailer& trailer) {
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
  CHECK(library->kernels().size() == 8);
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
            "': has no kernel 'nothing'; it holds add, linear, formulas, storages, choice, elsewhere, refuses, steps");
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
  CHECK(refusal(kernel_file(folder, "newer")) ==
        words("is of ABI version ", ATTUNE_ABI_VERSION + 1, "; this runtime reads version ", ATTUNE_ABI_VERSION));
  CHECK(refusal(folder.write("text.so", sealed("no code"))) == "holds no machine code; this machine is x86-64");
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

  Trailer trailer = trailer_of(good);
  trailer.format_version = ATTUNE_ABI_VERSION + 1;
  CHECK(refusal(folder.write("version.so", with_trailer(good, trailer))) ==
        words("is of format version ", ATTUNE_ABI_VERSION + 1, "; this runtime reads version ", ATTUNE_ABI_VERSION,
              ": compile the kernel again, or use the runtime it was compiled for"));
  trailer.format_version = ATTUNE_ABI_VERSION;
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
  CHECK(refusal(folder.write("other.so", sealed(other))) == expected);
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

TEST_CASE("what happens to a file that is open does no harm", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels");
  const Library library = Library::open(path).value();
  fs::resize_file(path, 0);
  CHECK(sum_of(library) == std::to_string(33.0f));
  folder.write("kernels.so", std::string(100'000, 'x'));
  CHECK(sum_of(library) == std::to_string(33.0f));
  fs::remove(path);
  CHECK(sum_of(library) == std::to_string(33.0f));
}

TEST_CASE("a path that is replaced while it is opened never runs an unchecked file", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels");
  const std::string bad_bytes = contents(fs::path(KERNEL_FILES) / "unchecked.so");
  const std::string good_bytes = contents(path);
  std::atomic<bool> is_over = false;
  std::thread replacer([&] {
    for (int i = 0; !is_over; ++i) {
      if (i % 4 == 3) {  // in its place
        folder.write("kernels.so", i % 8 == 3 ? bad_bytes : good_bytes);
      } else {
        folder.write("next", i % 2 == 0 ? bad_bytes : good_bytes);
        fs::rename(folder / "next", path);
      }
    }
  });
  int opened = 0, refused = 0, wrong = 0;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1); std::chrono::steady_clock::now() < end;) {
    const Result<Library> library = Library::open(path);
    ++(library ? opened : refused);
    if (library && sum_of(*library) != std::to_string(33.0f)) ++wrong;
  }
  is_over = true;
  replacer.join();
  CHECK(opened > 0);
  CHECK(refused > 0);
  CHECK(wrong == 0);
  CHECK(std::getenv("ATTUNE_UNCHECKED_FILE_RAN") == nullptr);
}

TEST_CASE("a file opens under its descriptor's name though another library took that", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels"), product = kernel_file(folder, "product");
  const Library first = Library::open(path).value();
  int closed = 0;
  for (int number = 3; number < 64; ++number) {
    std::error_code none;
    if (fs::read_symlink("/proc/self/fd/" + std::to_string(number), none) != "/memfd:kernels.so (deleted)") continue;
    close(number);  // as a program does that becomes a daemon: the next file gets the number
    ++closed;
  }
  REQUIRE(closed == 1);
  const Library second = Library::open(product).value();
  CHECK(second.kernels().size() == 1);
  CHECK(sum_of(first) == std::to_string(33.0f));
}

TEST_CASE("one certain file is opened, and no other", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels"), other = kernel_file(folder, "product");
  const std::string sum = file_sum(path);
  std::string capitals = sum;
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  CHECK(Library::open(path, sum));
  CHECK(Library::open(path, capitals));
  const std::string who = "kernel file '" + other.string() + "': ", sum_of_other = file_sum(other);
  CHECK(Library::open(other, sum).error().message ==
        who + "is another file than the one that is expected: its SHA-256 is " + sum_of_other + ", expected " + sum);
  for (const std::string& wrong : {std::string(), sum.substr(1), sum + "0", "g" + sum.substr(1)})
    CHECK(Library::open(other, wrong).error().message ==
          who + "the expected SHA-256 is '" + wrong + "'; 64 hexadecimal digits are right, as sha256sum prints them");
}

TEST_CASE("a file that no limit of file sizes lets into memory is refused", "[files]") {
  const Folder folder;
  const fs::path path = kernel_file(folder, "kernels");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string sentence = refusal(path);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(sentence == "cannot be copied into memory: it has " + std::to_string(fs::file_size(path)) +
                        " bytes; the limit of file sizes (RLIMIT_FSIZE) is 1000");
}

}  // namespace attune
