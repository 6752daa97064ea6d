"""Makes a tree with files and functions as long as they may be, and one line longer, and holds limits.py to what it says of them."""
import pathlib
import subprocess
import sys
import tempfile

LIMITS = pathlib.Path(__file__).with_name("limits.py")


def cpp_file(lines):
    return "int x;\n" * lines


def python_file(lines):
    return "x = 1\n" * lines


def cpp_function(lines):
    return "int computed(int x) {\n" + "  x += 1;\n" * (lines - 3) + "  return x;\n}\n"


def member_function(lines):
    return "struct Thing {\n  int computed(int x) const {\n" + "    x += 1;\n" * (lines - 3) + "    return x;\n  }\n};\n"


def constructor(lines):
    return "Thing::Thing(int x)\n    : x_(x) {\n" + "  x_ += 1;\n" * (lines - 3) + "}\n"


def test_case(lines):
    return 'TEST_CASE("a sentence", "[tag]") {\n' + "  CHECK(true);\n" * (lines - 2) + "}\n"


def python_function(lines):
    return "def computed(x):\n" + "    x += 1\n" * (lines - 2) + "    return x\n"


def said(files):
    """(exit status, sentences) of a tree with these texts."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([sys.executable, "-B", LIMITS, folder], capture_output=True, text=True)
        return result.returncode, result.stdout.splitlines()


def main():
    files = {
        "dsl/header.h": (cpp_file, 150, "dsl/header.h has 151 lines; up to 150 are right"),
        "runtime/source.cpp": (cpp_file, 300, "runtime/source.cpp has 301 lines; up to 300 are right"),
        "tests/script.py": (python_file, 300, "tests/script.py has 301 lines; up to 300 are right"),
        "codegen/function.cpp": (cpp_function, 40, "codegen/function.cpp: 'computed' has 41 lines; functions have up to 40"),
        "codegen/member.h": (member_function, 40, "codegen/member.h: 'computed' has 41 lines; functions have up to 40"),
        "tools/constructor.cpp": (constructor, 40, "tools/constructor.cpp: 'Thing' has 41 lines; functions have up to 40"),
        "tests/case.cpp": (test_case, 40, "tests/case.cpp: 'a sentence' has 41 lines; functions have up to 40"),
        "bench/function.py": (python_function, 40, "bench/function.py: 'computed' has 41 lines; functions have up to 40"),
    }
    right = said({name: make(most) for name, (make, most, _) in files.items()})
    if right != (0, [f"{len(files)} files measured, 0 wrong"]):
        return f"what is as long as it may be is refused: {right}"
    for name, (make, most, sentence) in files.items():
        wrong = said({name: make(most + 1)})
        if wrong != (1, [sentence, "1 files measured, 1 wrong"]):
            return f"'{sentence}' is expected: {wrong}"
    if said({})[0] != 1:
        return "a tree without files is taken for right"
    return None


if __name__ == "__main__":
    sys.exit(main())
