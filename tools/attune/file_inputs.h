/// Inputs from .npy files, for the commands that take --in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/interpret.h"
#include "tools/attune/options.h"
#include "tools/npy.h"

namespace attune {

/// "q=q.npy" as name and file, in a table; the problem in words.
std::string read_pairs(const std::vector<std::string>& texts, std::string_view option, std::map<std::string, std::string>& pairs);

/// The sentence about two outputs that would go into one file, or nothing. A device takes all of them.
std::string shared_file_problem(const std::map<std::string, std::string>& outputs);

/// Says on stderr what became of a file's numbers; nothing if the note is empty.
void print_note(const std::string& file, const std::string& note);

/// The arrays of files by the names of their inputs, in the order of --in's texts; or the problem in words.
struct FileInputs {
  struct File {
    std::string path;
    NpyArray array;
  };
  std::map<std::string, std::vector<File>, std::less<>> files;
  std::string problem;
};
FileInputs read_inputs(const std::vector<std::string>& texts);

/// Puts them in place of some of `inputs`, which are a graph's, for call `call` of `calls`: the file of that call, or the only one. The problem:
/// another number of files, no such input, other extents, numbers that it does not take.
std::string put_inputs(const Graph& graph, const FileInputs& given, Arrays& inputs, std::size_t call = 0, std::size_t calls = 1);

/// The arrays as the interpreter takes them, for a graph whose extents they say; or the problem in words.
struct InterpretedInputs {
  Arrays arrays;
  std::string problem;
};
InterpretedInputs interpreted_inputs(const Graph& graph, const FileInputs& given);

/// The call that the files make, whose codes alone are compiled. None where they make no call that the kernel is for: that call says what is wrong.
std::vector<KnownExtents> call_of_files(const Prepared& prepared, const FileInputs& given);

}  // namespace attune
