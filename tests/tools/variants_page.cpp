/// docs/variants.md shows every variant of the list; ATTUNE_UPDATE=1 writes it and its pictures anew.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include "dsl/variant_by_name.h"
#include "tests/tools/variant_sources.h"
#include "tools/attune/mask_pictures.h"

namespace attune {
namespace {

/// What a picture shows where defaults and random inputs do not serve.
struct PictureExample {
  std::vector<std::string> settings;                                                     // of parameters
  std::map<std::string, std::function<double(std::int64_t place)>, std::less<>> inputs;  // elements by their place in memory
};

const PictureExample& example_of(std::string_view variant) {
  const auto documents = [](std::int64_t i) { return i < 9 ? 0.0 : i < 15 ? 1.0 : 2.0; };
  static const std::map<std::string, PictureExample, std::less<>> examples = {
      {"alibi", {{"causal=true"}, {}}},
      {"block_diffusion", {{"block=4"}, {}}},
      {"chosen_blocks", {{"query_block=6", "key_block=4"}, {{"chosen", [](std::int64_t i) { return i * i % 6; }}}}},
      {"chunked", {{"chunk=8", "causal=true"}, {}}},
      {"document", {{"causal=true"}, {{"ids", documents}}}},
      {"embedded", {{"lengths=true"}, {{"lengths", [](std::int64_t) { return 17; }}}}},
      {"global_window", {{"window=3"}, {{"global", [](std::int64_t i) { return i % 11 == 2; }}}}},
      {"neighbourhood", {{"width=6", "kernel_width=3", "kernel_height=3"}, {}}},
      {"padded", {{}, {{"lengths", [](std::int64_t) { return 17; }}}}},
      {"prefix_lm", {{}, {{"prefix", [](std::int64_t) { return 7; }}}}},
      {"sinks", {{"sinks=2", "window=7"}, {}}},
      {"sliding_window", {{"window=7"}, {}}},
      {"strided", {{"stride=6"}, {}}},
      {"top_blocks", {{"count=2", "key_block=4"}, {}}},
      {"top_keys", {{"count=4", "causal=true"}, {}}},
      {"tree", {{}, {{"ancestors", [](std::int64_t i) { return i % 7 <= i / 7 % 7 && (i / 7 + i % 7) % 2 == 0; }}}}},
      {"window", {{"left=7", "right=3"}, {}}},
  };
  static const PictureExample none;
  const auto found = examples.find(variant);
  return found == examples.end() ? none : found->second;
}

/// As many queries and keys as show what the largest of the integers among the parameters does: three times as many, 24 at least.
std::int64_t picture_side(const std::vector<Setting>& parameters) {
  constexpr std::int64_t least = 24, largest_parameter = 300;
  std::int64_t side = least;
  for (const Setting& parameter : parameters) {
    std::int64_t value = 0;
    const char* end = parameter.value.data() + parameter.value.size();
    const auto [stop, error] = std::from_chars(parameter.value.data(), end, value);
    if (error == std::errc{} && stop == end && value <= largest_parameter) side = std::max(side, 3 * value);
  }
  return side;
}

struct MaskShown {
  std::string text;  // in Markdown
  MaskPicture picture;
};

/// The first masks of a call with so many queries and keys, and one of everything else.
MaskShown mask_shown(const ChosenVariant& chosen, std::string_view name, const PictureExample& example, const std::vector<Setting>& parameters) {
  Options options;
  options.graph = {std::string(name), {}, example.settings};
  options.targets = "x86-64-v3";
  const Prepared prepared = prepare(options);
  REQUIRE(prepared.problem == "");
  const KernelReport report = report_kernel(prepared, *prepared.targets[0]);
  REQUIRE(report.problem == "");
  const std::int64_t side = picture_side(parameters);
  std::set<std::string> dims;
  for (int id = 0; id < static_cast<int>(report.staged.nodes().size()); ++id)
    if (const auto* softmax = std::get_if<Softmax>(&report.staged.node(id).op))
      dims.insert({std::string(softmax->over), std::string(queries_of(report.staged, id, softmax->over))});
  std::string shape;
  const Graph graph = build_any(chosen.variant);
  for (const std::string& dim : free_dims_of(graph, dims)) shape += fmt::format("{}{}={}", shape.empty() ? "" : ",", dim, side);
  MaskedCall call = masked_call(prepared, report, shape, {});
  REQUIRE(call.problem == "");
  for (const auto& [input, element] : example.inputs) {
    REQUIRE(call.inputs.contains(input));
    std::int64_t place = 0;
    for (double& x : call.inputs.at(input).data) x = element(place++);
  }
  MaskPictureAnswer answer = mask_picture(prepared, report, call, "", false);
  REQUIRE(answer.problem == "");
  if (answer.picture.panels.empty()) return {"No mask: every query sees every key.", {}};
  answer.picture.matrix_pixels = 240;
  answer.picture.has_legend = false;
  answer.picture.title.clear();
  std::string seen;
  for (const MaskPanel& panel : answer.picture.panels) {
    seen += fmt::format("{}{} of {} {} x {} {}", seen.empty() ? "" : ", then ", panel.figures[0].substr(0, panel.figures[0].find(" of ")), panel.query_count, panel.queries, panel.key_count, panel.keys);
  }
  for (MaskPanel& panel : answer.picture.panels) {
    panel.figures.clear();
    if (answer.picture.panels.size() == 1) panel.title.clear();  // which of the masks it is
  }
  const std::string settings = fmt::format("{}", fmt::join(example.settings, ", "));
  return {fmt::format("![mask of {}](variants/{}.png)\n\n{}{} pairs are visible.", name, name, settings.empty() ? "" : "With `" + settings + "`: ", seen), std::move(answer.picture)};
}

std::string type_of(const Type& type) { return fmt::format("{} [{}]", name_of(type.kind), fmt::join(type.dims.begin(), type.dims.end(), " x ")); }

/// "a | b" in a table's cell.
std::string in_cell(const std::string& text) { return std::regex_replace(text, std::regex("\\|"), "\\|"); }

std::string tables_of(const Graph& graph, const VariantSource& source, const std::vector<Setting>& parameters) {
  std::string text;
  for (const Setting& p : parameters) {
    const std::string about = source.about_member(p.name);
    text += fmt::format("- parameter `{} = {}`, {}{}\n", p.name, p.value, p.type, about.empty() ? "" : ": " + in_cell(about));
  }
  for (const Node& node : graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op)) text += fmt::format("- input `{}`: {}\n", input->label, type_of(input->type));
  for (const Output& output : graph.outputs()) text += fmt::format("- output `{}`: {}\n", output.name, type_of({graph.node(output.node).type.kind, output.dims}));
  return text;
}

/// The formula, and behind its last semicolon whose it is.
struct Meaning {
  std::string formula, reference;
};
Meaning meaning_of(std::string_view text) {
  const std::size_t last = text.rfind("; ");
  const std::string tail(last == std::string_view::npos ? "" : text.substr(last + 2));
  if (!std::regex_search(tail, std::regex("\\b(19|20)[0-9]{2}\\b"))) return {std::string(text), ""};
  return {std::string(text.substr(0, last)), tail};
}

struct Section {
  std::string text;
  MaskPicture picture;
};

Section section_of(std::string_view name, const std::string& meaning_text) {
  INFO("variant '" << name << "'");
  const VariantSource source = source_of(ATTUNE_SOURCE, "dsl/variants", name);
  REQUIRE(source.is_found());
  const PictureExample& example = example_of(name);
  const ChosenVariant plain = choose_variant(name, {}), chosen = choose_variant(name, example.settings);
  REQUIRE(chosen.problem == "");
  const auto parameters_in = [](const ChosenVariant& of) { return std::visit([](const auto& variant) { return parameters_of(variant); }, of.variant); };
  const Meaning meaning = meaning_of(meaning_text);
  MaskShown shown = mask_shown(chosen, name, example, parameters_in(chosen));
  std::string text = fmt::format("## {}\n\n{}\n\n    {}\n\n", name, source.about(), meaning.formula);
  if (const std::string about = source.about_struct(); !about.empty()) text += about + "\n\n";
  text += tables_of(build_any(plain.variant), source, parameters_in(plain)) + "\n" + shown.text + "\n\n";
  if (const std::string code = source.code(); !code.empty()) text += "```cpp\n" + code + "```\n\n";
  text += fmt::format("{}Source: `{}`\n\n", meaning.reference.empty() ? "" : fmt::format("Reference: {}. ", meaning.reference), source.file);
  return {std::move(text), std::move(shown.picture)};
}

constexpr const char* head =
    "# Variants\n\n"
    "Every variant that Attune brings, in the order of `dsl/variants.h`: formula, parameters, inputs and outputs at their defaults, the mask, and the call\n"
    "operator that builds the graph. In formulas i is a query, j a key, h a head. Pictures show the first batch and head; dark pairs are visible.\n"
    "`attune show VARIANT --mask` draws any other call, and what a kernel visits of it. `docs/conventions.md` says which variant other systems mean.\n\n"
    "Written by tests/tools/variants_page.cpp.\n\n";

}  // namespace

TEST_CASE("docs/variants.md shows what the code says, ATTUNE_UPDATE=1 updates it", "[variants]") {
  const std::filesystem::path docs = ATTUNE_SOURCE "/docs";
  const bool is_update = std::getenv("ATTUNE_UPDATE") != nullptr;
  std::string page = head;
  std::set<std::string> pictures, present;
  std::filesystem::create_directories(docs / "variants");
  std::vector<std::pair<std::string_view, std::string_view>> variants;
  for_each_variant([&](const auto& variant) { variants.emplace_back(variant.name, variant.meaning); });
  for (const auto& [name, meaning] : variants) {
    const Section section = section_of(name, std::string(meaning));
    page += section.text;
    if (section.picture.panels.empty()) continue;
    pictures.insert(fmt::format("{}.png", name));
    if (is_update) REQUIRE(draw(section.picture, docs / "variants" / *pictures.find(fmt::format("{}.png", name)), "docs"));
  }
  if (is_update) std::ofstream(docs / "variants.md") << page;
  for (const auto& entry : std::filesystem::directory_iterator(docs / "variants")) {
    if (is_update && !pictures.contains(entry.path().filename())) std::filesystem::remove(entry.path());
    else present.insert(entry.path().filename());
  }
  CHECK((contents(docs / "variants.md") == page));
  CHECK(present == pictures);
}

TEST_CASE("the page of variants reads headers as they are written", "[variants]") {
  const VariantSource source = source_of(ATTUNE_SOURCE, "dsl/variants", "sinks");
  REQUIRE(source.is_found());
  CHECK(source.file == "dsl/variants/sinks.h");
  CHECK(source.about().starts_with("Causal attention to the first keys and the nearest ones"));
  CHECK(source.about_member("sinks") == "keys at the front that every query sees once it has reached them");
  CHECK(source.code().starts_with("constexpr void operator()(Graph& g) const {\n  g.require("));
  CHECK(source.code().ends_with("\n}\n"));
  CHECK(source_of(ATTUNE_SOURCE, "dsl/variants", "prefix_lm").about_struct().starts_with("Input prefix i64 [batch]: "));
  CHECK_FALSE(source_of(ATTUNE_SOURCE, "dsl/variants", "no_such_variant").is_found());
  CHECK(meaning_of("out = a; b = c; Press et al. 2022").reference == "Press et al. 2022");
  CHECK(meaning_of("out = a; b = c").formula == "out = a; b = c");
}

}  // namespace attune
