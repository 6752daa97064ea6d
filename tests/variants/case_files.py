"""Cases of variants as files: what the scripts that make them share."""

import json
import shutil

import numpy as np


class Cases:
    """Random inputs of one sequence of numbers, and what variants make of them."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.cases = {}

    def case(self, name, inputs, outputs, **parameters):
        """One case: `name` is the variant's, or VARIANT-WHAT; an output that is no dictionary is that called out."""
        assert name not in self.cases, name
        self.cases[name] = (name.split("-")[0], parameters, inputs, outputs if isinstance(outputs, dict) else {"out": outputs})

    def normal(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def integers(self, low, high, *shape):
        return self.random.integers(low, high, shape).astype(np.int64)

    def booleans(self, *shape, share=0.6):
        return self.random.random(shape) < share

    def write(self, folder):
        """Each case a folder: case.json, INPUT.npy and OUTPUT.expected.npy."""
        shutil.rmtree(folder, ignore_errors=True)
        for name, (variant, parameters, inputs, outputs) in self.cases.items():
            (folder / name).mkdir(parents=True)
            for tensor, data in inputs.items():
                np.save(folder / name / f"{tensor}.npy", np.asarray(data))
            for tensor, data in outputs.items():
                np.save(folder / name / f"{tensor}.expected.npy", np.asarray(data))
            text = {True: "true", False: "false"}
            settings = [f"{key}={text.get(value, value) if isinstance(value, bool) else value}" for key, value in parameters.items()]
            said = {"variant": variant, "settings": settings, "inputs": list(inputs), "outputs": list(outputs)}
            (folder / name / "case.json").write_text(json.dumps(said, indent=1) + "\n")

    def summary(self):
        return f"{len(self.cases)} cases of {len({variant for variant, *_ in self.cases.values()})} variants"
