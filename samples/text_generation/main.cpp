// Generates text with SmolLM2-135M-Instruct, whose layers run in Attune kernels: a text that goes on, or a conversation.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>

#include "runtime/threads.h"
#include "samples/text_generation/chat.h"
#include "samples/text_generation/generator.h"

namespace text_generation {
namespace {

/// A sentence on stderr, if there still is one.
void complain(std::string_view problem) {
  const std::string line = fmt::format("text_generation: {}\n", problem);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

struct Options {
  std::filesystem::path model = TEXT_GENERATION_MODEL;
  std::string prompt, system = std::string(default_system), weights = std::string(weight_form_names[0]);
  bool is_chat = false, is_greedy = false;
  double temperature = 0.2, top_p = 0.9;
  std::uint64_t seed = 0;
  std::int64_t tokens = 256, context = Sizes::context;
  int threads = 0;
};

bool write(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0; }

/// Writes tokens; bytes of a character of which more is to come wait for them, and are dropped where none come.
class WholeCharacters {
 public:
  bool operator()(std::string_view bytes) {
    waiting_ += bytes;
    std::size_t whole = waiting_.size();
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, waiting_.size()); ++back) {
      const auto byte = static_cast<unsigned char>(waiting_[waiting_.size() - back]);
      if ((byte & 0xc0) == 0x80) continue;  // not the first of a character
      const std::size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      if (size > back) whole = waiting_.size() - back;
      break;
    }
    const bool is_written = write(std::string_view(waiting_).substr(0, whole));
    waiting_.erase(0, whole);
    return is_written;
  }

 private:
  std::string waiting_;
};

/// The next line of standard input, without its end; nothing behind the last.
Result<std::optional<std::string>> next_line() {
  struct Line {
    char* text = nullptr;
    std::size_t room = 0;
    ~Line() { std::free(text); }
  } line;
  const ssize_t size = ::getline(&line.text, &line.room, stdin);
  if (size < 0 && std::feof(stdin) == 0) return Error{"standard input: cannot be read"};
  if (size < 0) return std::optional<std::string>();
  std::string text(line.text, static_cast<std::size_t>(size));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return std::optional(std::move(text));
}

/// "Prefill: 5 tokens, 96.5 per second. Decode: 28 tokens, 23.9 per second. Weights: f32, 538 MB; threads: 2."
std::string summary(const Generator& generator, const Model& model) {
  const auto of = [](const Speed& speed) { return fmt::format("{} tokens, {:.1f} per second", speed.tokens, speed.tokens_per_second()); };
  return fmt::format("Prefill: {}. Decode: {}. Weights: {}, {:.0f} MB; threads: {}.", of(generator.reading()), of(generator.writing()),
                     weight_form_names[static_cast<std::size_t>(model.form)], static_cast<double>(model.bytes()) / 1e6, attune::num_threads());
}

/// The prompt and what follows it.
Result<void> go_on(const Options& options, Generator& generator) {
  if (const auto checked = generator.check(options.prompt); !checked) return Error{"prompt: " + checked.error().message};
  if (!write(options.prompt)) return Error{"standard output: cannot be written"};
  return generator(options.prompt, options.tokens, WholeCharacters());
}

/// A line of standard input, an answer, and so on until the input ends. The prompt given, if any, is the first line. A line that is no text is
/// refused, and the conversation goes on.
Result<void> converse(const Options& options, Generator& generator) {
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  bool is_first = true;
  std::string line = options.prompt;
  while (true) {
    if (line.empty() && is_terminal) write("> ");
    if (line.empty()) {
      auto read = next_line();
      if (!read) return read.error();
      if (!*read) break;
      line = **std::move(read);
    }
    if (const auto checked = generator.check(line); !checked) {
      complain("message: " + checked.error().message);
      line.clear();
    }
    if (!line.empty()) {
      if (auto done = generator(turn_of(line, is_first, options.system), options.tokens, WholeCharacters()); !done) return done;
      write("\n");
      is_first = false;
      line.clear();
    }
  }
  if (is_terminal) write("\n");
  return {};
}

Result<void> run(const Options& options) {
  if (options.prompt.empty() && !options.is_chat)
    return Error{"the prompt is missing; text_generation \"The capital of France is\" goes on with a text, --chat converses"};
  if (std::error_code error; !std::filesystem::exists(options.model, error) && !error)
    return Error{fmt::format("--model: there is no file '{}'; scripts/setup installs it", options.model.string())};
  if (options.threads > 0)
    if (auto set = attune::set_num_threads(options.threads); !set) return Error{"--threads: " + set.error().message};
  const auto file = Gguf::open(options.model);
  if (!file) return file.error();
  const auto tokenizer = Tokenizer::of(*file);
  if (!tokenizer) return tokenizer.error();
  if (tokenizer->vocabulary_size() != Sizes::vocabulary)
    return Error{fmt::format("tokenizer: has {} tokens, expected {}", tokenizer->vocabulary_size(), Sizes::vocabulary)};
  const auto form = std::ranges::find(weight_form_names, options.weights) - weight_form_names.begin();
  const auto model = Model::of(*file, static_cast<WeightForm>(form));
  if (!model) return model.error();
  auto decoder = Decoder::of(*model, options.context);
  if (!decoder) return decoder.error();
  Sampler sampler(options.is_greedy ? 0 : options.temperature, options.top_p, options.seed);
  Generator generator(*tokenizer, std::move(decoder).value(), [&](std::span<const float> logits) { return sampler(logits); });
  if (const auto checked = generator.check(options.system); !checked) return Error{"--system: " + checked.error().message};
  const auto done = options.is_chat ? converse(options, generator) : go_on(options, generator);
  if (done || generator.reading().tokens > 0) fmt::print("\n\n{}\n", summary(generator, *model));
  return done;
}

void describe(CLI::App& app, Options& options) {
  const CLI::Validator is_number([](const std::string& text) { return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : ""; }, "");
  const CLI::Validator is_seed(
      [](const std::string& text) {
        std::uint64_t seed = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
        return error == std::errc{} && end == text.data() + text.size() ? "" : text + " is no integer from 0 to 18446744073709551615";
      },
      "");
  app.description("Generates text with SmolLM2-135M-Instruct, whose layers run in Attune kernels.");
  app.footer(
      "Examples:\n"
      "  text_generation --greedy \"The capital of France is\"\n"
      "  text_generation --chat\n"
      "  text_generation --chat --weights packed \"Tell me a story about a lighthouse.\"");
  app.add_option("prompt", options.prompt, "The text to go on with; with --chat the first message");
  app.add_flag("--chat", options.is_chat, "Converse: each line of standard input is a message");
  app.add_option("--system", options.system, "What the assistant of a conversation is told of itself")->capture_default_str();
  app.add_flag("--greedy", options.is_greedy, "Take the most likely token each time");
  app.add_option("--temperature", options.temperature, "Below 1 likely tokens become likelier; 0 is greedy")
      ->check(CLI::Range(0.0, 100.0) & is_number)
      ->capture_default_str();
  app.add_option("--top-p", options.top_p, "Draw from the most likely tokens that have this share together")
      ->check(CLI::Range(0.0, 1.0) & is_number)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the random numbers; the same gives the same text")->check(is_seed)->capture_default_str();
  app.add_option("--tokens", options.tokens, "Most tokens to write, of each answer with --chat")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--context", options.context, "Most tokens that the model sees")
      ->check(CLI::Range(std::int64_t{1}, Sizes::context))
      ->capture_default_str();
  app.add_option("--weights", options.weights, "How weights are kept: f32, bf16, or packed as the file stores them")
      ->check(CLI::IsMember(std::vector<std::string>(weight_form_names.begin(), weight_form_names.end())))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads to compute on; as many as there are CPUs without it")->check(CLI::Range(1, 256));
  app.add_option("--model", options.model, "GGUF file of SmolLM2-135M-Instruct")->capture_default_str();
}

}  // namespace
}  // namespace text_generation

int main(int argc, char** argv) {
  const auto refuse = [](const std::string& problem) { return text_generation::complain(problem), 2; };
  const auto finish = [&](int status) {
    const bool is_written = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return is_written || status != 0 ? status : refuse("standard output: cannot be written");
  };
  text_generation::Options options;
  CLI::App app;
  text_generation::describe(app, options);
  try {
    app.parse(argc, argv);
    const auto done = text_generation::run(options);
    return done ? finish(0) : refuse(done.error().message);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? finish(app.exit(error)) : refuse(error.what());
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory");
  } catch (const std::exception& error) {  // fmt throws where nothing more can be written
    return refuse(std::ferror(stdout) != 0 ? "standard output: cannot be written" : error.what());
  }
}
