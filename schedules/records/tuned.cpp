#include "schedules/records/tuned.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>

#include "schedules/records/choice.h"

namespace attune {
namespace {

/// Beyond two octaves (a fourth or four times the extent) tiles are no longer of the right order.
constexpr int farthest_octaves = 2;

/// The number without its sign, also of the least one, which std::abs has no result for.
std::uint64_t magnitude(std::int64_t number) { return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number); }

int octave(std::int64_t number) {
  if (number == 0) return 0;
  const auto width = static_cast<int>(std::bit_width(magnitude(number)));
  return number < 0 ? -width : width;
}

/// Octaves between the record and the key over all extents; -1 if the record is not for the key.
int distance(const TunedRecord& record, const StageKey& key) {
  if (record.stage != key.stage || record.types != key.types) return -1;
  for (const auto& [name, bucket] : record.extents)
    if (!key.extents.contains(name)) return -1;
  int sum = 0;
  for (const auto& [name, bucket] : key.extents) {
    const auto known = record.extents.find(name);
    const int octaves = known == record.extents.end() ? 1 : std::abs(octave(known->second) - octave(bucket));
    if (octaves > farthest_octaves) return -1;
    sum += octaves;
  }
  return sum;
}

std::vector<TunedFile> parse_built_in() {
  std::vector<TunedFile> files;
  for (const BuiltInText& built_in : built_in_texts()) {
    TunedFileAnswer answer = parse_tuned(built_in.text, built_in.name);
    if (!answer.problem.empty()) throw std::logic_error("internal: " + answer.problem);
    files.push_back(std::move(answer.file));
  }
  return files;
}

}  // namespace

std::string stage_name(std::string_view kind, std::string_view body) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a: the same everywhere and for ever, as file formats need it
  for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string name(kind);
  name += '-';
  for (int shift = 28; shift >= 0; shift -= 4) name += "0123456789abcdef"[((hash >> 32 ^ hash) >> shift) & 15];
  return name;
}

std::int64_t bucket_of(std::int64_t number) {
  if (number == 0) return 0;
  const std::uint64_t floor = std::bit_floor(magnitude(number));
  return static_cast<std::int64_t>(number < 0 ? 0 - floor : floor);
}

const TunedFile* built_in_tuned(std::string_view target) {
  static const std::vector<TunedFile> files = parse_built_in();
  const auto found = std::ranges::find(files, target, &TunedFile::target);
  return found == files.end() ? nullptr : &*found;
}

TunedMatch nearest_record(std::span<const TunedFile* const> files, std::string_view schedule, SizeClass size, const StageKey& key) {
  TunedMatch best;
  if (key.stage.empty()) return best;
  const auto is_meant = [&](const TunedRecord& record) { return record.schedule == schedule && record.size == size; };
  for (const TunedFile* file : files) {
    for (const TunedRecord& record : file->tuned) {
      if (!is_meant(record)) continue;
      const int octaves = distance(record, key);
      if (octaves >= 0 && (best.record == nullptr || octaves < best.distance)) best = {&record, file, octaves};
    }
    if (std::ranges::any_of(file->defaults, is_meant)) break;
  }
  return best;
}

TunedMatch default_record(std::span<const TunedFile* const> files, std::string_view schedule, SizeClass size) {
  std::vector<const TunedFile*> all;
  for (const TunedFile* file : files) {
    all.push_back(file);
    if (const TunedFile* others = built_in_tuned(file->other_defaults); others != nullptr) all.push_back(others);
  }
  const auto match = [&](SizeClass wanted) -> TunedMatch {
    for (const TunedFile* file : all)
      for (const TunedRecord& record : file->defaults)
        if (record.schedule == schedule && record.size == wanted) return {&record, file, 0};
    return {};
  };
  if (const TunedMatch exact = match(size); exact.record != nullptr) return exact;
  // A schedule that is named for a size that it was not made for takes what it has; few queries take what small calls take.
  for (const SizeClass other : size_classes)
    if (const TunedMatch instead = match(other); instead.record != nullptr) return instead;
  return {};
}

std::vector<Parameter> with_defaults(std::string_view schedule, const Machine& machine, SizeClass size, std::vector<Declared> declared) {
  const TunedFile* file = built_in_tuned(machine.name);
  const TunedRecord* record = file == nullptr ? nullptr : default_record({&file, 1}, schedule, size).record;
  std::vector<Parameter> parameters;
  for (Declared& d : declared) {
    const bool is_there = record != nullptr && std::ranges::find(record->parameters, d.name, &Parameter::name) != record->parameters.end();
    if (!is_there)
      throw std::logic_error("internal: '" + machine.name + ".json': has no default of '" + std::string(schedule) + "' for parameter '" + d.name +
                             "'");
    const std::int64_t value = value_of(record->parameters, d.name);
    parameters.push_back({std::move(d.name), std::move(d.legal), value});
  }
  return parameters;
}

}  // namespace attune
