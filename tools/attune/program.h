/// Commands and options: what a command line may say, and the chosen command of one; what is wrong with it is said in Attune's sentences.
/// CLI11, which reads it, takes five seconds to compile and is in program.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attune {

enum class Need { optional, required };

/// One command; copies are the same command. What options are read into must live until the command has run.
class Command {
 public:
  /// A text; the help shows what it is before as the default. A name without dashes is that of a word that stands alone.
  void text(const std::string& name, std::string& into, const std::string& help, Need need = Need::optional) const;
  /// The same, any number of times; with a delimiter also several at once.
  void texts(const std::string& name, std::vector<std::string>& into, const std::string& help, Need need = Need::optional,
             char delimiter = '\0') const;
  /// Digits alone, with a value from `low` to `high`; what it is before is shown as the default if it is such a value.
  void number(const std::string& name, int& into, int low, int high, const std::string& help) const;
  /// The same from 0 to the largest of 63 bits.
  void number(const std::string& name, std::uint64_t& into, const std::string& help) const;
  void flag(const std::string& name, bool& into, const std::string& help) const;
  /// What is said where the option, which is needed only sometimes, is missing.
  std::string missing(const std::string& name) const;
  /// What the help ends with.
  void footer(const std::string& text) const;
  /// What runs if the command is chosen; gives the exit status.
  void action(std::function<int()> run) const;

 private:
  friend class Program;
  Command(CLI::App& app, std::function<int()>& chosen) : app_(&app), chosen_(&chosen) {}
  CLI::App* app_;
  std::function<int()>* chosen_;
};

class Program {
 public:
  Program(const std::string& name, const std::string& help, const std::string& footer, const std::string& version);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Command command(const std::string& name, const std::string& help);

  /// What the words ask for, ready to run: a command, or printing help or the version; or the problem in words.
  struct Chosen {
    std::function<int()> run;
    std::string problem;
  };
  Chosen parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::function<int()> chosen_;
};

}  // namespace attune
