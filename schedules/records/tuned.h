/// Tuned files: the values of schedules' parameters for a target, `schedules/tuned/<target>.json`. Code declares what is legal, files say what is
/// best: defaults for any stage, and records of stages that were measured (`attune tune`).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// What tells stages apart when their schedules are chosen. `codegen/steps/stage_key.h` makes it.
struct StageKey {
  std::string stage;  ///< "gemm-1f0c2e9a": the kind and a hash of `body`; empty for a stage that no record can be for
  std::string body;   ///< the operations, line by line, with dims numbered in order of appearance
  std::string types;  ///< "f32 bf16 -> f32": the storage of operands and result; ", products of bf16" behind it where they may be rounded
  /// Of the extents ("d3") and whole numbers ("n0") in the body those that are known, as powers of two: bucket_of.
  std::map<std::string, std::int64_t> extents;
  bool operator==(const StageKey&) const = default;
};

/// "gemm-1f0c2e9a" for the kind "gemm" and a body.
std::string stage_name(std::string_view kind, std::string_view body);

/// The largest power of two that is not above a positive number; 0 is its own bucket, -n is in that of n with its sign.
std::int64_t bucket_of(std::int64_t number);

/// What was measured when a record was made.
struct Measured {
  std::string shape, cpu, version, date;  ///< "batch=1,keys=128"; the model's name; Attune's; "2025-01-31"
  int threads = 1;
  double default_ms = 0, tuned_ms = 0;
};

/// The parameters of a schedule for calls of a size. A default is for every stage and has neither `stage`, `types`, `extents` nor `measured`.
struct TunedRecord {
  std::string schedule;
  SizeClass size = SizeClass::large;
  std::string stage, types;
  std::map<std::string, std::int64_t> extents;
  std::vector<Parameter> parameters;  ///< names and values
  std::int64_t small_up_to = 0;       ///< of schedules that limit small calls: the largest extent of one
  Measured measured;
};

struct TunedFile {
  std::string name, target;
  std::string other_defaults;  ///< the target whose file in `schedules/tuned/` has the defaults that are not here; may be empty
  std::vector<TunedRecord> defaults, tuned;
  std::map<std::string, std::string> stages;  ///< the bodies of the stages of `tuned`, by their names
};

/// The file that the text holds, or what is wrong with it in words; `name` begins the sentence. Fields must be known, there, and given once.
struct TunedFileAnswer {
  TunedFile file;
  std::string problem;
};
TunedFileAnswer parse_tuned(std::string_view text, std::string_view name);

/// What is wrong with the records for the machine that is the file's target: schedules and parameters that do not exist, values that are
/// not legal, values that are missing, two records for the same,
/// other defaults of no target or of a file that needs others in turn. Empty if nothing is.
std::string tuned_problem(const TunedFile& file, const Machine& machine);

/// The text of the file, sorted, each record in lines of its own: what parse_tuned reads.
std::string tuned_text(const TunedFile& file);

/// Puts the record in, in place of one for the same; `body` is the stage's.
void insert(TunedFile& file, TunedRecord record, const std::string& body);
/// The same for a default; of a stage's record its parameters and limit are those of all stages.
void insert_default(TunedFile& file, TunedRecord record);

/// A file of `schedules/tuned/`, which are all part of the program.
struct BuiltInText {
  std::string_view name, text;
};
std::span<const BuiltInText> built_in_texts();

/// The file for the target, or null.
const TunedFile* built_in_tuned(std::string_view target);

/// The record for a stage by a schedule, and which file it is from. `distance` counts octaves between the buckets: 0 is exact.
struct TunedMatch {
  const TunedRecord* record = nullptr;
  const TunedFile* file = nullptr;
  int distance = 0;
};

/// Among the records of these files, the first files before the others, the one nearest to the key: of the same stage and types, knowing no
/// extent that the key does not, and at most two octaves away in any; an extent that only the key knows counts as one octave. Null if none is.
/// A file with a default of its own for the schedule and size is the last that is asked: what it says of all stages comes before what files after
/// it say of one.
TunedMatch nearest_record(std::span<const TunedFile* const> files, std::string_view schedule, SizeClass size, const StageKey& key);

/// The default in the first of these files that has one, or whose other defaults have; null if none has.
TunedMatch default_record(std::span<const TunedFile* const> files, std::string_view schedule, SizeClass size);

/// A parameter that a schedule declares: its name and what is legal.
struct Declared {
  std::string name;
  std::vector<std::int64_t> legal;
};

/// The declared parameters with the values of the built-in default for the machine, whose name is that of a target.
std::vector<Parameter> with_defaults(std::string_view schedule, const Machine& machine, SizeClass size, std::vector<Declared> declared);

}  // namespace attune
