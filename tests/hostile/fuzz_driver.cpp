/// Runs a fuzzer's one entry point on each file of a corpus, then on mutations of them: fuzz_NAME CORPUS [--runs N] [--seed S]. The same seed
/// gives the same mutations everywhere. An input that crashes, or takes more than a minute, is written to fuzz_NAME.input in this folder; given as
/// CORPUS it runs alone. libFuzzer takes the place of this file where it is linked (ATTUNE_LIBFUZZER).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// of the sanitizers, where the program has them
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;

std::string current, crash_path;

void keep_input() {
  const int file = open(crash_path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (file < 0 || write(file, current.data(), current.size()) < 0) return;
  constexpr std::string_view text = "the input is kept: ";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0 || write(STDERR_FILENO, crash_path.data(), crash_path.size()) < 0) return;
  if (write(STDERR_FILENO, "\n", 1) < 0) return;
  close(file);
}

void on_signal(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Handlers on a stack of their own: a stack that is full is one of the crashes.
void catch_crashes() {
  static std::array<char, 65536> room;
  const stack_t stack{room.data(), 0, room.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) sigaction(signal, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_input);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

void run(std::string input) {
  constexpr unsigned patience_s = 60;
  current = std::move(input);
  alarm(patience_s);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
  alarm(0);
}

std::vector<std::string> read_corpus(const fs::path& path) {
  std::vector<fs::path> files;
  if (fs::is_directory(path))
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  else
    files.push_back(path);
  std::ranges::sort(files);
  std::vector<std::string> corpus;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return corpus;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Makes new inputs of old ones: bytes for formats of bytes, whole words and numbers for languages.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

  std::string next() {
    std::string text = any_of_corpus();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    constexpr std::size_t longest = 1 << 16;
    if (text.size() > longest) text.resize(longest);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  const std::string& any_of_corpus() { return corpus_[below(corpus_.size())]; }

  /// Where a run of word characters stands in the text.
  std::pair<std::size_t, std::size_t> word_in(const std::string& text) {
    std::size_t begin = below(text.size());
    while (begin < text.size() && !is_word(text[begin])) ++begin;
    std::size_t end = begin;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    while (end < text.size() && is_word(text[end])) ++end;
    return {begin, end - begin};
  }

  std::string piece_of(const std::string& text) {
    const std::size_t begin = below(text.size());
    return text.substr(begin, 1 + below(64));
  }

  std::string strange() {
    constexpr const char* words[] = {"-1", "0", "1", "2147483648", "1073741825", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999",
                                     "1e309", "inf", "nan", "\"\"", "\"*/\"", "\\0A", "\xFF", "[[[[[[[[", "{{{{{{{{", "<<<<<<<<", "\"", "'", ",", "=", "\n", "int", "__x", "%0"};
    return words[below(std::size(words))];
  }

  void change(std::string& text) {
    const auto [word, letters] = word_in(text);
    const std::size_t place = below(text.size() + 1);
    switch (below(9)) {
      case 0:
        if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1 << below(8));
        return;
      case 1: text.insert(place, 1, static_cast<char>(below(256))); return;
      case 2: text.erase(place, 1 + below(16)); return;
      case 3: text.erase(place, below(text.size())); return;
      case 4: text.insert(place, piece_of(text)); return;
      case 5: text.insert(place, piece_of(any_of_corpus())); return;
      case 6: text.insert(place, strange()); return;
      case 7: text.replace(word, letters, strange()); return;
      default: {
        const std::string& other = any_of_corpus();
        const auto [begin, count] = word_in(other);
        text.replace(word, letters, other.substr(begin, count));
      }
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
};

/// The number behind a word of the command line; `otherwise` where it is not there.
std::uint64_t number_after(int argc, char** argv, std::string_view option, std::uint64_t otherwise) {
  for (int i = 2; i + 1 < argc; ++i)
    if (argv[i] == option) std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), otherwise);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = fs::path(argv[0]).filename();
  if (argc < 2 || !fs::exists(argv[1])) {
    std::fprintf(stderr, "usage: %s CORPUS [--runs N] [--seed S]\n", name.c_str());
    return 2;
  }
  crash_path = name + ".input";
  const std::vector<std::string> corpus = read_corpus(argv[1]);
  const std::uint64_t runs = number_after(argc, argv, "--runs", fs::is_directory(argv[1]) ? 2000 : 0), seed = number_after(argc, argv, "--seed", 1);
  catch_crashes();
  for (const std::string& input : corpus) run(input);
  Mutator mutator(corpus, seed);
  for (std::uint64_t i = 0; i < runs && !corpus.empty(); ++i) run(mutator.next());
  std::printf("%s: %zu files and %llu mutations of seed %llu without a crash\n", name.c_str(), corpus.size(), static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return corpus.empty() ? 2 : 0;
}
