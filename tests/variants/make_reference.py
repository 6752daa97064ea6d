"""Writes data/: what variants give, computed in double by formulas that know nothing of Attune.

Each module of cases calls `case` (reference_formulas.py) once for each. They take random numbers one after the other, so their order is that of data/;
a new case at the end of the last leaves the numbers of the others as they are. Run it to make data/ anew:
    /usr/bin/python3 -B tests/variants/make_reference.py tests/variants/data
"""

import importlib
import pathlib
import sys

from reference_formulas import reference

for module in ("mask_cases", "chosen_cases", "score_cases", "weight_cases", "layer_cases", "cache_cases", "row_cases", "state_cases"):
    importlib.import_module(module)

if __name__ == "__main__":
    reference.write(pathlib.Path(sys.argv[1]))
    print(reference.summary())
