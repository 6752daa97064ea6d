#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>

#include "tests/tools/headers.h"
#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// A command line and the sentence that refuses it.
struct Refused {
  Words words;
  std::string sentence;
  /// The same words behind a command.
  Refused behind(const char* command) const {
    Refused whole = *this;
    whole.words.insert(whole.words.begin(), command);
    return whole;
  }
};

/// One sentence on stderr that begins with `attune: `, nothing else, exit status 2.
void check_refused(const Refused& refused) {
  const Ran ran = run_attune(refused.words);
  std::string command;
  for (const std::string& word : refused.words) command += word + " ";
  INFO("attune " << command);
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Catch::StartsWith("attune: ") && Catch::Contains(refused.sentence));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

NpyArray floats(std::vector<std::int64_t> shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return NpyArray::of<float>(shape, std::vector<float>(static_cast<std::size_t>(size), 0.5f));
}

}  // namespace

TEST_CASE("wrong commands and options are refused in one sentence", "[command line]") {
  for (const Refused& refused : std::vector<Refused>{
           {{}, "a command is missing; there are list, show, compile, run, check"},
           {{"frobnicate"}, "'frobnicate': is not a command; there are list, show"},
           {{"check"}, "check: GRAPH is missing; expected a variant's name, FILE.mlir, or FILE.h with --struct"},
           {{"-x"}, "'-x': is not a command; there are list, show"},
           {{"check", "causal", "--frob"}, "check: '--frob' is not an option; attune check --help shows those that there are"},
           {{"check", "causal", "again"}, "check: 'again' is one word too many; attune check --help shows what may stand where"},
           {{"show", "causal", "--json=x"}, "--json: takes no value; it stands alone"},
           {{"check", "causal", "--seed", "x"}, "--seed: 'x' is not a whole number from 0 to 9223372036854775807"},
           {{"check", "causal", "--seed", "-1"}, "--seed: '-1' is not a whole number from 0 to "},
           {{"list", "nothing"}, "list 'nothing': there is nothing of that name; variants, ops, schedules and targets are listed"},
           {{"show", "causal", "--stage", "x"}, "--stage 'x': is not one of graph, mlir, stages, loops, assembly"},
           {{"compile", "causal", "--size", "huge"}, "--size 'huge': is not one of large, small, few, shared, tiny"},
           {{"compile", "causal", "--set", "queries=100", "--size", "few"}, "size 'few': the kernel has no schedules for such calls; it has large"},
           {{"show", "causal", "--size", "huge"}, "--size 'huge': is not one of large, small, few, shared, tiny"},
           {{"check", "causal", "--target", "arm64"}, "target 'arm64': this machine cannot run it; it runs "},
           {{"bench", "causal"}, "bench: --shape is missing; expected DIM=EXTENT"},
           {{"bench", "causal", "--shape", "queries=3", "--threads", "0"}, "--threads: '0' is not a whole number from 1 to 256"},
           {{"bench", "causal", "--shape", "queries=3", "--device", "cuda"}, "kernel 'causal': holds no code for 'cuda'; it holds "},
           {{"bench", "causal", "--shape", "queries=3", "--target", "arm64"}, "target 'arm64': this machine cannot run it; it runs "},
           {{"explain", "causal", "--target", "x86-64-v3,x86-64-v4"}, "--target x86-64-v3,x86-64-v4: explain takes one target"},
           {{"show", "causal", "--json"}, "--json: is for the signature; --signature --json prints it"},
           {{"show", "causal", "--signature", "--stage", "mlir"}, "--signature: is shown instead of --stage mlir; one of them is right"},
           {{"compile", "causal", "--name", std::string(201, 'a')}, "': has 201 letters; 200 are the most"},
           {{"compile", "causal", "--name", "int"}, "--name 'int': is a keyword of C or C++; the kernel's headers could not declare it"},
           {{"compile", "causal", "-o", "/dev/null"}, "-o '/dev/null': is not a folder, and none can be made there"},
           {{"compile", "causal", "--name", "a__b"}, "--name 'a__b': is kept for compilers; a name has no _ first and no two in a row"},
           {{"compile", "causal", "--name", "3x"}, "--name '3x': is not a name; letters, digits and _ are, and no digit first"},
       })
    check_refused(refused);
}

TEST_CASE("wrong extents of calls are refused in one sentence", "[command line]") {
  for (const Refused& refused : std::vector<Refused>{
           {{"check", "causal", "--shape"}, "--shape: has no value; expected DIM=EXTENT"},
           {{"check", "causal", "--shape", "queries=1", "--shape", "keys=1"}, "--shape: is given 2 times; once is right"},
           {{"check", "causal", "--shape", "foo=3"}, "--shape foo=3: the graph has no dim 'foo'; it has batch, heads, queries, keys, depth, value_depth"},
           {{"check", "causal", "--shape", "queries=-1"}, "--shape: 'queries=-1' is not DIM=EXTENT with an extent from 0 to 2147483647"},
           {{"check", "causal", "--shape", "queries=3000000000"}, "--shape: 'queries=3000000000' is not DIM=EXTENT with an extent from 0 to"},
           {{"check", "causal", "--shape", "queries=99999999999999999999"}, "is not DIM=EXTENT with an extent from 0 to 2147483647"},
           {{"check", "causal", "--shape", "queries=3,queries=4"}, "--shape queries=4: sets queries twice; once is right"},
           {{"check", "causal", "--shape", "queries=2000000000,keys=2000000000"}, "--shape: the interpreter would take "},
           {{"bench", "causal", "--shape", "queries=2000000000,batch=1000000"}, "--shape: inputs and outputs would take "},
           {{"explain", "causal", "--shape", "queries=2000000000,keys=2000000000,batch=1000000"},
            "--shape: [batch x heads x queries x keys] would have 1.2e+25 elements; up to 4.61e+18 are counted"},
           {{"check", "causal", "--shape", "queries"}, "--shape: 'queries' is not DIM=EXTENT"},
           {{"check", "causal", "--shape", "queries=5,,keys=3"}, "--shape queries=5,,keys=3: has an empty part; DIM=EXTENT with an extent from 0 to "},
           {{"check", "causal", "--shape", "queries=5,"}, "--shape queries=5,: has an empty part; "},
           {{"explain", "causal", "--set", "depth=64", "--shape", "depth=32"}, "--shape depth=32: --set says depth=64; they must agree"},
       })
    check_refused(refused);
}

TEST_CASE("wrong variants, parameters, dims, types and targets are refused in one sentence", "[command line]") {
  for (const Refused& refused : std::vector<Refused>{
           {{"nope"}, "variant 'nope': there is none of that name; there are single_head, scaled_dot_product, causal"},
           {{"causal", "--struct", "A"}, "--struct A: names a struct of a header; 'causal' is none"},
           {{"causal", "--param", "window=3"}, "variant 'causal': has no parameter 'window'; it has none"},
           {{"sliding_window", "--param", "width=3"}, "variant 'sliding_window': has no parameter 'width'; it has window"},
           {{"sliding_window", "--param", "window=x"}, "variant 'sliding_window': window is 'x'; it must be an integer"},
           {{"sliding_window", "--param", "window=0"}, "variant 'sliding_window': window is 0; it must be at least 1"},
           {{"sliding_window", "--param", "window"}, "variant 'sliding_window': 'window' sets no parameter; NAME=VALUE does"},
           {{"causal", "--set", "nope=3"}, "nope is not a dim of 'causal'; its dims are batch, heads, queries, depth, keys, value_depth"},
           {{"causal", "--set", "depth=0"}, "depth is 0; an extent must be positive"},
           {{"causal", "--set", "depth"}, "'depth' is not an extent; depth=64 is one"},
           {{"causal", "--type", "f99"}, "'f99' is not a type of reals; those are f32, bf16, f16"},
           {{"causal", "--type", "z=f32"}, "'z' is neither an input nor an output of 'causal'; they are q, k, v, out"},
           {{"causal", "--type", "products=f16"}, "products are of f32 or of bf16, not of 'f16'"},
           {{"causal", "--target", "m68k"}, "target 'm68k': does not exist; there are host, zen5, zen4, sapphirerapids-amx, sapphirerapids, x86-64-v4, x86-64-v3, arm64, opencl, cuda"},
           {{"causal", "--target", "arm64,x86-64-v3"}, "is another architecture than 'arm64'; one file holds kernels of one"},
           {{"causal", "--target", ","}, "--target ,: has an empty part; a target's name is right on each side of a comma"},
           {{"causal", "--set", "depth=64,"}, "--set depth=64,: has an empty part; DIM=EXTENT is right on each side of a comma"},
           {{"causal", "--set", "depth=64,,queries=3"}, "--set depth=64,,queries=3: has an empty part; DIM=EXTENT is right"},
           {{"causal", "--set", ","}, "--set ,: has an empty part; DIM=EXTENT is right"},
           {{"sliding_window", "--param", ",window=3"}, "--param ,window=3: has an empty part; NAME=VALUE is right on each side of a comma"},
           {{"causal", "--type", "bf16,,q=f32"}, "--type bf16,,q=f32: has an empty part; a type or NAME=TYPE is right on each side of a comma"},
           {{"causal", "--set", "depth=3000000000"}, "depth is 3000000000; kernels count up to 1073741824"},
           {{"causal", "--set", "depth=64", "--set", "depth=32"}, "--set depth=32: sets depth twice; once is right"},
           {{"sliding_window", "--param", "window=3,window=4"}, "--param window=4: sets window twice; once is right"},
           {{"causal", "--type", "f32,bf16"}, "--type bf16: sets the type of all twice; once is right"},
           {{"causal", "--type", "q=f32,q=bf16"}, "--type q=bf16: sets q twice; once is right"},
           {{"causal", "--set", "batch=1000000000,heads=1000000000"}, "'q' has more elements than 2147483647 by its fixed extents; kernels count no further"},
           {{"causal", "--tuned", "/"}, "tuned file '/': is a folder; attune tune writes files"},
           {{"causal", "--tuned", "/dev/zero"}, "tuned file '/dev/zero': has more than 256 MiB; attune tune writes such files"},
           {{"some/causal"}, "'some/causal': is no graph; a variant's name, FILE.mlir, and FILE.h with --struct are"},
           {{"causal.so"}, "'causal.so': is no graph; a variant's name, FILE.mlir, and FILE.h with --struct are"},
           {{""}, "GRAPH '': is empty; expected a variant's name, FILE.mlir, or FILE.h with --struct"},
           {{"causal", "--set", ""}, "--set '': is empty; expected DIM=EXTENT"},
           {{"causal", "--type", ""}, "--type '': is empty; expected storage of reals: f32, bf16 or f16"},
           {{"causal", "--target", ""}, "--target '': is empty; expected what to compile for"},
       })
    for (const char* command : {"check", "compile"}) check_refused(refused.behind(command));
}

TEST_CASE("wrong schedules are refused in one sentence", "[command line]") {
  for (const Refused& refused : std::vector<Refused>{
           {{"causal", "--schedule", "online_softmax,key_tile=64,key_tile=128"}, "--schedule key_tile=128: sets key_tile twice; once is right"},
           {{"causal", "--schedule", "online_softmax,"}, "--schedule online_softmax,: has an empty part; a name or parameter=value is right"},
           {{"causal", "--schedule", "foo"}, "schedule 'foo': does not exist; there are online_softmax"},
           {{"causal", "--schedule", "amx_online_softmax", "--target", "zen4"}, "schedule 'amx_online_softmax': is none of target 'zen4'; it has online_softmax"},
           {{"causal", "--schedule", "gpu_gemm", "--target", "x86-64-v3"}, "schedule 'gpu_gemm': is none of target 'x86-64-v3'; it has online_softmax"},
           {{"causal", "--schedule", "online_softmax,foo=5"}, "schedule 'online_softmax': has no parameter 'foo'; it has query_tile, key_tile"},
           {{"causal", "--schedule", "online_softmax,query_tile=5"}, "schedule 'online_softmax': query_tile = 5 is not one of 4, 6, 8"},
           {{"causal", "--schedule", "row_softmax,foo=5"}, "schedule 'row_softmax': has no parameter 'foo'; it has "},
           {{"causal", "--schedule", "gemm", "--target", "x86-64-v3"}, "schedule 'gemm': no stage of the kernel takes it; its stages take online_softmax, split_keys, whole_rows"},
           {{"causal", "--schedule", "shared_keys", "--target", "x86-64-v3"}, "schedule 'shared_keys': no stage of the kernel takes it: no heads share their keys; its stages take"},
           {{"causal", "--schedule", "online_softmax,key_tile"}, "schedule 'online_softmax': 'key_tile' is not name=number"},
       })
    for (const char* command : {"check", "compile"}) check_refused(refused.behind(command));
}

TEST_CASE("no command takes a dim or a tensor that the graph lacks", "[command line]") {
  const std::string dims = "; it has batch, heads, queries, keys, depth, value_depth";
  for (const char* command :
       {"show", "show --signature", "compile", "run", "run --interpret", "check", "explain", "bench --shape queries=3", "tune --shape queries=3"}) {
    std::istringstream in(command);
    const Words begin(std::istream_iterator<std::string>(in), {});
    const auto refuses = [&](const char* option, const char* value, const std::string& sentence) {
      Words words = begin;
      words.insert(words.begin() + 1, "causal");
      words.insert(words.end(), {option, value});
      check_refused({words, sentence});
    };
    refuses("--set", "dpeth=64", "dpeth is not a dim of 'causal'; its dims are batch, heads, queries, depth, keys, value_depth");
    refuses("--type", "x=bf16", "'x' is neither an input nor an output of 'causal'; they are q, k, v, out");
  }
  for (const char* command : {"check", "explain", "bench", "tune"})
    check_refused({{command, "causal", "--shape", "queries=3,dpeth=64"}, "--shape dpeth=64: the graph has no dim 'dpeth'" + dims});
}

TEST_CASE("dims that a header names and does not use are none of its graph", "[command line]") {
  const Folder folder;
  std::string text(good_header);
  const std::string start = "const attune::Attention a(g);";
  text.insert(text.find(start), "g.dims(\"spare\", \"dpeth\"); ");
  const std::string header = folder.write("reach.h", text);
  CHECK(attune_says({"show", header, "--struct", "Reach", "--signature", "--json"}).find("spare") == std::string::npos);
  check_refused({{"show", header, "--struct", "Reach", "--set", "dpeth=64"}, "dpeth is not a dim of 'reach'; its dims are batch, heads, queries, depth, keys, value_depth"});
  check_refused({{"check", header, "--struct", "Reach", "--shape", "dpeth=64"}, "the graph has no dim 'dpeth'; it has batch, heads, queries, depth, keys, value_depth"});
}

TEST_CASE("files that hold no graph are refused with their line", "[command line]") {
  const Folder folder;
  const std::string text = attune_says({"show", "causal", "--stage", "mlir"});
  const std::string cut = folder.write("cut.mlir", text.substr(0, 300));
  std::string misspelt = text;
  const std::size_t softmax = misspelt.find("attn.softmax");
  REQUIRE(softmax != std::string::npos);
  misspelt.replace(softmax, 12, "attn.softmix");
  const auto line = std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(softmax), '\n'));
  const std::string unknown = folder.write("unknown.mlir", misspelt), good = folder.write("good.mlir", text);
  std::filesystem::create_directory(folder / "folder.mlir");
  std::filesystem::create_symlink("/dev/zero", folder / "endless.mlir");
  for (const Refused& refused : std::vector<Refused>{
           {{"check", folder / "missing.mlir"}, "missing.mlir': cannot be read"},
           {{"check", folder / "folder.mlir"}, "folder.mlir': is a folder; text of MLIR is expected"},
           {{"check", folder / "endless.mlir"}, "endless.mlir': has more than 256 MiB; text of MLIR is expected"},
           {{"check", cut}, "cut.mlir: line 2: "},
           {{"check", unknown}, "unknown.mlir: line " + line + ": custom op 'attn.softmix' is unknown"},
           {{"check", good, "--param", "a=1"}, "good.mlir': has no parameters to set; a variant or a header has"},
       })
    check_refused(refused);
}

TEST_CASE("headers without a right graph are refused with the compiler's sentence", "[command line]") {
  const Folder folder;
  const std::string good = folder.write("good.h", good_header), wrong = folder.write("wrong.h", wrong_header);
  const std::string broken = folder.write("broken.h", "int x = ;\n");
  std::filesystem::create_directory(folder / "folder.h");
  std::filesystem::create_symlink("/dev/zero", folder / "endless.h");
  for (const Refused& refused : std::vector<Refused>{
           {{"check", folder / "folder.h", "--struct", "A"}, "folder.h': is a folder; a header is expected"},
           {{"check", folder / "endless.h", "--struct", "A"}, "endless.h': is a device or a pipe; a header is expected"},
           {{"check", folder / "missing.h", "--struct", "A"}, "missing.h': does not exist"},
           {{"check", good}, "good.h': is a header; --struct names the variant in it"},
           {{"check", good, "--struct", "a b"}, "--struct 'a b': is not a name; letters, digits and _ are, and no digit first"},
           {{"check", good, "--struct", "a::int"}, "--struct 'int': is a keyword of C or C++"},
           {{"check", good, "--struct", "Nope"}, "good.h': --struct Nope: "},
           {{"check", good, "--struct", "Reach", "--param", "reach=x"}, "variant 'reach': reach is 'x'; it must be an integer"},
           {{"check", broken, "--struct", "A"}, "broken.h': line 1: expected primary-expression"},
           {{"check", wrong, "--struct", "Wrong"},
            "wrong.h': line 9: softmax: runs over depth, which x does not have: x is [batch x heads x queries x keys]"},
       })
    check_refused(refused);
}

TEST_CASE("arrays that a kernel does not take are refused in one sentence", "[command line]") {
  const Folder folder;
  attune_says({"compile", "causal", "--shared", "--size", "tiny", "-o", folder / "."});
  const auto save = [&](const char* name, const NpyArray& array) {
    REQUIRE(write_npy(folder / name, array));
    return std::string(folder / name);
  };
  const std::string kernel = folder / "causal.so", q = save("q.npy", floats({1, 2, 5, 8})), k = save("k.npy", floats({1, 2, 7, 8}));
  const std::string wide = save("wide.npy", floats({1, 2, 7, 9})), flat = save("flat.npy", floats({2, 7, 8}));
  const std::string doubles = save("doubles.npy", NpyArray::of<double>({1, 2, 5, 8}, std::vector<double>(80, 1e300)));
  const std::string text = folder.write("text.npy", "no array");
  const std::string whole = contents(kernel);
  const std::string part = folder.write("part.so", std::string_view(whole).substr(0, whole.size() / 2));
  const auto call = [&](const std::string& of_q, const std::string& of_k, Words more = {}) {
    Words words{"run", kernel, "--in", "q=" + of_q, "--in", "k=" + of_k, "--in", "v=" + k};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const Refused& refused : std::vector<Refused>{
           {{"run", kernel, "--in", "q=" + q}, "--in: 'k' is missing; kernel 'causal' has the inputs q, k, v"},
           {{"run", kernel, "--in", "q"}, "--in 'q': is not NAME=FILE.npy"},
           {{"run", kernel, "--in", "q=a.npy", "--in", "q=b.npy"}, "--in 'q=b.npy': names q twice"},
           {call(folder / "missing.npy", k), "missing.npy': cannot be opened: No such file or directory"},
           {call(text, k), "text.npy': is not a .npy file"},
           {call(doubles, k), "doubles.npy': element 0 is 1e+300; input 'q' of kernel 'causal' takes f32, where that is infinite"},
           {call(q, flat), "kernel 'causal': input 'k' is f32 [2 x 7 x 8], expected f32 [batch x heads x keys x depth]"},
           {call(q, wide), "kernel 'causal': input 'k' is f32 [1 x 2 x 7 x 9]: depth = 9; input 'q' is f32 [1 x 2 x 5 x 8] and has depth = 8"},
           {call(q, k, {"--in", "z=" + q}), ": kernel 'causal' has no such input; it has q, k, v"},
           {call(q, k, {"--out", "z=z.npy"}), "--out 'z=z.npy': kernel 'causal' has no such output; it has out"},
           {call(q, k, {"--out", "out=" + std::string(folder / "no/out.npy")}), "no/out.npy': cannot be written"},
           {call(q, k, {"--sha256", std::string(64, '0')}), "causal.so': is another file than the one that is expected: its SHA-256 is "},
           {{"run", "causal", "--sha256", std::string(64, '0')}, "--sha256: is for kernel files (.so); 'causal' is none"},
           {call(q, k, {"--interpret"}), "--interpret: takes a graph; the kernel file"},
           {call(q, k, {"--tuned", "zen4.json"}), "--tuned: takes a graph; the kernel file"},
           {{"run", folder / "missing.so"}, "missing.so': cannot be read"},
           {{"run", part}, "part.so': is truncated or no kernel file"},
           {{"run", "causal", "--interpret", "--in", "q=" + q}, "input 'k' is missing"},
       })
    check_refused(refused);
}

TEST_CASE("integers that the interpreter's doubles do not hold are refused in one sentence", "[command line]") {
  const Folder folder;
  constexpr std::int64_t last = 9007199254740992;  // 2^53
  const std::string graph = folder.write("twice.mlir", R"(func.func @twice(%x: !attn.tensor<queries, i64> {attn.name = "x"}) -> !attn.tensor<queries, i64> {
  %0 = attn.add %x, %x : (!attn.tensor<queries, i64>, !attn.tensor<queries, i64>) -> !attn.tensor<queries, i64>
  attn.return %0 {names = ["out"], dims = [["queries"]]} : !attn.tensor<queries, i64>
})");
  const auto run = [&](std::int64_t second) {
    const std::string file = folder / "x.npy";
    REQUIRE(write_npy(file, NpyArray::of<std::int64_t>({2}, std::vector<std::int64_t>{7, second})));
    return Words{"run", graph, "--interpret", "--in", "x=" + file, "--out", "out=" + std::string(folder / "out.npy")};
  };
  for (const std::int64_t beyond : {last + 1, -last - 1, last + 2, std::numeric_limits<std::int64_t>::min()})
    check_refused({run(beyond), "x.npy': element 1 is " + std::to_string(beyond) +
                                    "; the interpreter takes integers from -2^53 to 2^53, which is 9007199254740992"});
  for (const std::int64_t held : {last, -last}) {
    attune_says(run(held));
    CHECK((*read_npy(folder / "out.npy")->values<double>())[1] == 2 * static_cast<double>(held));
  }
}

}  // namespace attune
