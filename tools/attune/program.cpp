#include "tools/attune/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

namespace attune {
namespace {

std::string names_of(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (const CLI::App* command : commands) names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

/// What an option takes, as its help says it, to stand after "expected".
std::string expectation(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  std::string text = found == nullptr ? std::string() : found->get_description();
  // "A variant's name" becomes "a variant's name", "DIM=EXTENT" stays
  if (text.size() > 1 && !std::isupper(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string missing_option(const CLI::App& command, const std::string& option) {
  return fmt::format("{}: {} is missing; expected {}", command.get_name(), option, expectation(command, option));
}

/// CLI11's words are "NAME is required", "NAME: ... received 2", "NAME: ... missing" and "Could not convert: NAME = ...".
std::string sentence_of(const CLI::ParseError& error, const CLI::App& program, const CLI::App& command) {
  const std::string text = error.what(), &name = command.get_name();
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError: {
      const std::string word = program.remaining(true).front();
      if (word.starts_with('-')) return fmt::format("{0}: '{1}' is not an option; attune {0} --help shows those that there are", name, word);
      return fmt::format("{0}: '{1}' is one word too many; attune {0} --help shows what may stand where", name, word);
    }
    case CLI::ExitCodes::RequiredError: {
      return missing_option(command, text.substr(0, text.find(' ')));
    }
    case CLI::ExitCodes::ArgumentMismatch: {
      const std::string option = text.substr(0, text.find(':'));
      if (text.ends_with("missing")) return fmt::format("{}: has no value; expected {}", option, expectation(command, option));
      return fmt::format("{}: is given {} times; once is right", option, text.substr(text.rfind(' ') + 1));
    }
    case CLI::ExitCodes::ConversionError: {
      const std::size_t option = text.find(": ") + 2;
      return fmt::format("{}: takes no value; it stands alone", text.substr(option, text.find(" = ") - option));
    }
    default: return text;
  }
}

std::string empty_value_problem(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_expected_max() > 0 && std::ranges::find(option->results(), std::string()) != option->results().end())
      return fmt::format("{} '': is empty; expected {}", option->get_name(), expectation(command, option->get_name()));
  return {};
}

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return {[low, high](std::string& text) -> std::string {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc{} && end == text.data() + text.size() && value >= low && value <= high) return {};
            return fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
          },
          ""};
}

/// The problem in words, or nothing. What CLI11 throws for --help and --version passes through.
std::string parse_problem(CLI::App& program, int argc, char** argv) {
  const std::vector<const CLI::App*> commands = std::as_const(program).get_subcommands({});
  if (argc < 2) return fmt::format("a command is missing; there are {}; attune --help shows them", names_of(commands));
  const std::string first = argv[1];
  const auto command = std::ranges::find(commands, first, [](const CLI::App* c) { return c->get_name(); });
  if (command == commands.end() && program.get_option_no_throw(first) == nullptr)
    return fmt::format("'{}': is not a command; there are {}", first, names_of(commands));
  const CLI::App& chosen = command == commands.end() ? program : **command;
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    return sentence_of(error, program, chosen);
  }
  return empty_value_problem(chosen);
}

}  // namespace

void Command::text(const std::string& name, std::string& into, const std::string& help, Need need) const {
  app_->add_option(name, into, help)->capture_default_str()->required(need == Need::required);
}

void Command::texts(const std::string& name, std::vector<std::string>& into, const std::string& help, Need need, char delimiter) const {
  const auto take = [&into, delimiter](const std::vector<std::string>& given) {
    for (const std::string& text : given) {
      // CLI11 would leave out empty parts.
      std::size_t begin = 0, end = 0;
      while (delimiter != '\0' && (end = text.find(delimiter, begin)) != std::string::npos) {
        into.push_back(text.substr(begin, end - begin));
        begin = end + 1;
      }
      into.push_back(text.substr(begin));
    }
  };
  app_->add_option_function<std::vector<std::string>>(name, take, help)->allow_extra_args(false)->required(need == Need::required);
}

void Command::number(const std::string& name, int& into, int low, int high, const std::string& help) const {
  CLI::Option* option = app_->add_option(name, into, help)->check(whole_number(low, high));
  if (low <= into && into <= high) option->capture_default_str();
}

void Command::number(const std::string& name, std::uint64_t& into, const std::string& help) const {
  app_->add_option(name, into, help)->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))->capture_default_str();
}

void Command::flag(const std::string& name, bool& into, const std::string& help) const { app_->add_flag(name, into, help); }

std::string Command::missing(const std::string& name) const { return missing_option(*app_, name); }

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::action(std::function<int()> run) const {
  app_->callback([run = std::move(run), chosen = chosen_] { *chosen = run; });
}

Program::Program(const std::string& name, const std::string& help, const std::string& footer, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->footer(footer);
}

Program::~Program() = default;

Command Program::command(const std::string& name, const std::string& help) { return {*app_->add_subcommand(name, help), chosen_}; }

Program::Chosen Program::parse(int argc, char** argv) {
  try {
    std::string problem = parse_problem(*app_, argc, argv);
    return {chosen_, std::move(problem)};
  } catch (const CLI::Success& help_or_version) {
    return {[this, help_or_version] { return app_->exit(help_or_version); }, {}};
  }
}

}  // namespace attune
