#include "schedules/records/tuned.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"

namespace attune {
namespace {

const std::string body = "%0 = input(): real [d0, d1]\nout %0: [d0, d1]\n";

/// A record of the gemm of `body` for calls of a size.
TunedRecord record(std::map<std::string, std::int64_t> extents, std::int64_t row_tile, SizeClass size = SizeClass::large) {
  TunedRecord r;
  r.schedule = "gemm";
  r.size = size;
  r.stage = stage_name("gemm", body);
  r.types = "f32 -> f32";
  r.extents = std::move(extents);
  r.parameters = {{"packed", {}, 1}, {"row_tile", {}, row_tile}, {"column_vectors", {}, 2}, {"row_block", {}, 8}, {"prefetch", {}, 1}};
  r.small_up_to = size == SizeClass::small ? 32 : 0;
  r.measured = {"d=64", "a CPU", "0.1.0", "2025-01-31", 2, 1.25, 1.0};
  return r;
}

TunedFile file_with(std::vector<TunedRecord> records) {
  TunedFile file;
  file.name = "mine.json";
  file.target = "x86-64-v4";
  for (TunedRecord& r : records) insert(file, std::move(r), body);
  return file;
}

Machine v4() { return machine_of(*find_target("x86-64-v4")); }

StageKey key(std::map<std::string, std::int64_t> extents, const std::string& types = "f32 -> f32") {
  return {stage_name("gemm", body), body, types, std::move(extents)};
}

/// What is wrong with the text of a good file after a replacement.
std::string problem_with(std::string from, std::string to) {
  std::string text = tuned_text(file_with({record({{"d0", 64}}, 8), record({{"d0", 128}}, 10)}));
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  text.replace(place, from.size(), to);
  const TunedFileAnswer answer = parse_tuned(text, "mine.json");
  return answer.problem.empty() ? tuned_problem(answer.file, v4()) : answer.problem;
}

ParameterAnswer chosen(const StageKey& stage, const ScheduleChoice& choice, SizeClass size = SizeClass::large) {
  for (const ScheduleInfo& info : all_schedules())
    if (info.name == "gemm") return choose_parameters(info, v4(), size, stage, choice);
  return {};
}

}  // namespace

TEST_CASE("every target has a default of every schedule and size", "[tuned]") {
  for (const TargetInfo& target : targets()) {
    CAPTURE(target.name);
    const TunedFile* file = built_in_tuned(target.name);
    REQUIRE(file != nullptr);
    const Machine machine = machine_of(target);
    CHECK(tuned_problem(*file, machine) == "");
    std::size_t own = 0;
    for (const ScheduleInfo& info : all_schedules()) {
      if (!info.is_for(machine)) continue;
      for (const SizeClass size : info.made_for ? std::vector{*info.made_for} : std::vector{SizeClass::large, SizeClass::small}) {
        CAPTURE(info.name);
        const TunedMatch match = default_record({&file, 1}, info.name, size);
        REQUIRE(match.record != nullptr);
        CHECK(match.record->size == size);
        CHECK(parameter_problem(info.name, info.parameters(machine, size), match.record->parameters) == "");
        if (info.problem != nullptr) CHECK(info.problem(machine, match.record->parameters) == "");
        if (match.file == file) {
          ++own;
          continue;
        }
        CHECK(match.file->target == file->other_defaults);
      }
    }
    CHECK(file->defaults.size() == own);
  }
}

TEST_CASE("the files of the tree are written as the tuner writes them", "[tuned]") {
  for (const BuiltInText& built_in : built_in_texts()) {
    const TunedFileAnswer answer = parse_tuned(built_in.text, built_in.name);
    REQUIRE(answer.problem == "");
    CHECK(built_in.name == answer.file.target + ".json");
    CHECK(tuned_text(answer.file) == built_in.text);
  }
}

TEST_CASE("a tuned file is the same after it is written and read", "[tuned]") {
  const TunedFile file = file_with({record({{"d0", 64}, {"n0", -8}}, 8), record({}, 4, SizeClass::small), record({{"d0", 64}}, 6)});
  const TunedFileAnswer answer = parse_tuned(tuned_text(file), "mine.json");
  REQUIRE(answer.problem == "");
  CHECK(tuned_problem(answer.file, v4()) == "");
  CHECK(tuned_text(answer.file) == tuned_text(file));
  REQUIRE(answer.file.tuned.size() == 3);
  CHECK(answer.file.tuned[0].small_up_to == 32);  // knows the fewest extents: the first
  CHECK(answer.file.stages.at(stage_name("gemm", body)) == body);
  CHECK(answer.file.tuned[2].measured.default_ms == 1.25);
}

TEST_CASE("defaults that a file does not have are those of the file that it names", "[tuned]") {
  TunedFile file = file_with({});
  file.defaults = {record({}, 8)};
  const TunedFile* const files[] = {&file, built_in_tuned("x86-64-v3")};
  CHECK(default_record(files, "row_softmax", SizeClass::large).file->name == "x86-64-v3.json");
  file.other_defaults = "arm64";
  CHECK(default_record(files, "gemm", SizeClass::large).file == &file);
  CHECK(default_record(files, "row_softmax", SizeClass::large).file->name == "arm64.json");
  const TunedFileAnswer answer = parse_tuned(tuned_text(file), "mine.json");
  CHECK(answer.problem == "");
  CHECK(answer.file.other_defaults == "arm64");
}

TEST_CASE("a record takes the place of one for the same", "[tuned]") {
  const TunedFile file = file_with({record({{"d0", 64}}, 8), record({{"d0", 64}}, 10)});
  REQUIRE(file.tuned.size() == 1);
  CHECK(value_of(file.tuned[0].parameters, "row_tile") == 10);
}

TEST_CASE("a wrong tuned file is refused in words", "[tuned]") {
  CHECK(problem_with("\"target\"", "\"target\"") == "");
  CHECK(problem_with("{", "[") == "tuned file 'mine.json': is not JSON: byte 13 is not what follows there");
  CHECK(problem_with("\"threads\": 2", "\"threads\": 1e309") == "tuned file 'mine.json': has the number 1e309; numbers up to 1.79e308 are possible");
  CHECK(problem_with("\"defaults\": []", "\"defaults\": " + std::string(50000, '[')) == "tuned file 'mine.json': is nested deeper than 16 levels");
  CHECK(problem_with("\"threads\": 2", "\"threads\": 18446744073709551615") ==
        "tuned file 'mine.json': tuned record 1: 'measured': 'threads' is 18446744073709551615; whole numbers up to 9223372036854775807 are possible");
  CHECK(problem_with("\"threads\": 2", "\"threads\": 4294967297") == "tuned file 'mine.json': tuned record 1: 'measured': 'threads' is 4294967297; it must be from 1 to 256");
  CHECK(problem_with("\"target\"", "\"a\\nb\"") == "tuned file 'mine.json': has the field 'a\\x0ab'; fields are target, defaults, stages, tuned, other_defaults");
  CHECK(problem_with("\"defaults\": [],", "") == "tuned file 'mine.json': has no field 'defaults'");
  CHECK(problem_with("\"defaults\": [],", "\"defaults\": 3,") == "tuned file 'mine.json': 'defaults' is not a list");
  CHECK(problem_with("\"target\": \"x86-64-v4\"", "\"target\": \"x86-64-v4\", \"author\": \"me\"") ==
        "tuned file 'mine.json': has the field 'author'; fields are target, defaults, stages, tuned, other_defaults");
  const std::string target = "\"target\": \"x86-64-v4\"";
  CHECK(problem_with(target, target + ", \"other_defaults\": \"x86\"") == "tuned file 'mine.json': 'other_defaults' is 'x86', which is no target");
  CHECK(problem_with(target, target + ", \"other_defaults\": \"zen4\"") ==
        "tuned file 'mine.json': 'other_defaults' is 'zen4', whose own are those of 'x86-64-v4'; name that");
  CHECK(problem_with("\"size\": \"large\"", "\"size\": \"huge\"") == "tuned file 'mine.json': tuned record 1: 'size' is 'huge'; it is not one of large, small, few, shared, tiny");
  CHECK(problem_with("\"threads\": 2", "\"threads\": 2.5") ==
        "tuned file 'mine.json': tuned record 1: 'measured': 'threads' is 2.5; it must be a whole number");
  CHECK(problem_with("\"tuned_ms\": 1", "\"tuned_ms\": 0") ==
        "tuned file 'mine.json': tuned record 1: 'measured': 'tuned_ms' is 0; it must be a number above 0");
  CHECK(problem_with("\"d0\": 64", "\"d0\": 65") == "tuned file 'mine.json': tuned record 1: extent d0 = 65 is not a power of two");
  CHECK(problem_with("\"schedule\": \"gemm\"", "\"schedule\": \"gem\"") ==
        "tuned file 'mine.json': tuned record 1: schedule 'gem': does not exist for target 'x86-64-v4'");
  CHECK(problem_with("\"row_tile\": 8", "\"row_tile\": 48") ==
        "tuned file 'mine.json': tuned record 1: schedule 'gemm': row_tile = 48 is not one of 1, 2, 4, 6, 8, 10, 12, 14");
  CHECK(problem_with("\"row_tile\": 8, ", "") == "tuned file 'mine.json': tuned record 1: schedule 'gemm': parameter 'row_tile' is missing");
  CHECK(problem_with("\"row_tile\": 8", "\"row_tile\": 8, \"row_tile\": 8") == "tuned file 'mine.json': names 'row_tile' twice in one object");
  CHECK(problem_with("\"row_tile\": 8", "\"row_tile\": 8, \"depth\": 8").find("has no parameter 'depth'; it has packed, row_tile") != std::string::npos);
  CHECK(problem_with("\"d0\": 64", "\"d0\": 128") == "tuned file 'mine.json': tuned record 2: is for the same as record 1");
  CHECK(problem_with("%0 = input", "%0 = output").find("stage 'gemm-") != std::string::npos);
  CHECK(problem_with("\"size\": \"large\"", "\"size\": \"small\"").find("'small_up_to' is missing") != std::string::npos);
}

TEST_CASE("a schedule comes from its bucket, the nearest one, or the default", "[tuned]") {
  ScheduleChoice choice;
  choice.tuned = {file_with({record({{"d0", 64}}, 8), record({{"d0", 1024}}, 10), record({}, 14, SizeClass::small)})};
  const auto answer = chosen(key({{"d0", 64}}), choice);
  CHECK(answer.origin == "tuned: exact");
  CHECK(answer.file == "mine.json");
  CHECK(value_of(answer.parameters, "row_tile") == 8);

  const auto nearest = chosen(key({{"d0", 128}, {"d1", 32}}), choice);
  CHECK(nearest.origin == "tuned: nearest bucket d0=64, d1=any");
  CHECK(value_of(nearest.parameters, "row_tile") == 8);
  CHECK(value_of(chosen(key({{"d0", 512}}), choice).parameters, "row_tile") == 10);

  const std::int64_t by_default =
      value_of(default_record(std::vector{built_in_tuned("x86-64-v4")}, "gemm", SizeClass::large).record->parameters, "row_tile");
  for (const StageKey& other : {key({{"d0", 8}}), key({}), key({{"d0", 64}}, "bf16 -> f32"), StageKey{}}) {
    const auto fallback = chosen(other, choice);
    CHECK(fallback.origin == "default");
    CHECK(fallback.file == "x86-64-v4.json");
    CHECK(value_of(fallback.parameters, "row_tile") == by_default);
  }
  CHECK(chosen(key({{"d0", 8}}), choice, SizeClass::small).small_up_to == 32);

  choice.name = "gemm";
  choice.values = {{"row_tile", {}, 2}};
  CHECK(chosen(key({{"d0", 64}}), choice).origin == "command line");
  CHECK(value_of(chosen(key({{"d0", 64}}), choice).parameters, "row_tile") == 2);
}

TEST_CASE("what a file says of all stages comes before what files after it say of one", "[tuned]") {
  ScheduleChoice choice;
  choice.tuned = {file_with({}), file_with({record({{"d0", 64}}, 8)})};
  CHECK(chosen(key({{"d0", 64}}), choice).origin == "tuned: exact");
  choice.tuned[0].defaults = {record({}, 14)};
  const auto by_default = chosen(key({{"d0", 64}}), choice);
  CHECK(by_default.origin == "default");
  CHECK(value_of(by_default.parameters, "row_tile") == 14);
  std::ranges::reverse(choice.tuned);
  CHECK(value_of(chosen(key({{"d0", 64}}), choice).parameters, "row_tile") == 8);
}

TEST_CASE("defaults of files replace those of the target one by one", "[tuned]") {
  ScheduleChoice choice;
  choice.tuned = {file_with({})};
  choice.tuned[0].defaults = {record({}, 14)};
  TunedFile all;
  all.target = "x86-64-v4";
  all.defaults = default_records(v4(), choice);
  CHECK(tuned_problem(all, v4()) == "");
  CHECK(all.defaults.size() == built_in_tuned("x86-64-v4")->defaults.size());
  CHECK(value_of(default_record(std::vector<const TunedFile*>{&all}, "gemm", SizeClass::large).record->parameters, "row_tile") == 14);
  CHECK(value_of(default_record(std::vector<const TunedFile*>{&all}, "gemm", SizeClass::small).record->parameters, "row_tile") != 14);
  insert_default(all, *default_record(std::vector{built_in_tuned("x86-64-v4")}, "gemm", SizeClass::large).record);
  CHECK(all.defaults.size() == built_in_tuned("x86-64-v4")->defaults.size());
}

TEST_CASE("a record for another target is not taken", "[tuned]") {
  ScheduleChoice choice;
  choice.tuned = {file_with({record({{"d0", 64}}, 8)})};
  choice.tuned[0].target = "zen4";
  CHECK(chosen(key({{"d0", 64}}), choice).origin == "default");
}

TEST_CASE("buckets are powers of two", "[tuned]") {
  CHECK(bucket_of(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
  CHECK((bucket_of(0) == 0 && bucket_of(1) == 1 && bucket_of(63) == 32 && bucket_of(64) == 64 && bucket_of(-5) == -4));
}

}  // namespace attune
