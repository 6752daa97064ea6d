"""Holds type_names.py to what it says of a tree in which a type is defined twice, beside types that may have one name."""
import pathlib
import subprocess
import sys
import tempfile

FILES = {
    "runtime/file.h": "namespace attune {\n\nclass File final : public Thing {\n};\n\n}  // namespace attune\n",
    "tools/file.h": "namespace attune {\n\nstruct File;\nstruct File {\n};\n\n}  // namespace attune\n",
    "tools/other.cpp": "namespace attune {\nnamespace {\n\nstruct File {\n};\n\n}  // namespace\n}  // namespace attune\nnamespace attune::other {\nstruct File {\n};\n}  // namespace attune::other\n",
}
EXPECTED = "attune::File is defined in runtime/file.h:3 and in tools/file.h:4; a type has a name of its own\n2 types, 1 wrong\n"

with tempfile.TemporaryDirectory() as folder:
    for name, text in FILES.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    result = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("type_names.py"), folder], capture_output=True, text=True)
if (result.returncode, result.stdout) != (1, EXPECTED):
    sys.exit(f"type_names.py ended with {result.returncode} and said:\n{result.stdout}{result.stderr}expected 1 and:\n{EXPECTED}")
