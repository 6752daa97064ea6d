"""A node of ONNX with inputs, and what ONNX's reference gives for it, as a folder."""

import json

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float64": np.float64}
PROTO = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "float64": TensorProto.DOUBLE,
         "bool": TensorProto.BOOL, "int64": TensorProto.INT64, "int32": TensorProto.INT32, "int8": TensorProto.INT8}


def name_of(array):
    return next((n for n, t in DTYPES.items() if array.dtype == t), str(array.dtype))


class Case:
    """A node with its inputs by formal name, None where one is left out; `outputs` are the formal names wanted, None likewise."""

    def __init__(self, op, opset, attributes, inputs, outputs, domain=""):
        self.op, self.opset, self.attributes, self.inputs, self.outputs, self.domain = op, opset, attributes, inputs, outputs, domain

    def model(self):
        node = helper.make_node(self.op, [n if a is not None else "" for n, a in self.inputs.items()], [n or "" for n in self.outputs], domain=self.domain, **self.attributes)
        given = [helper.make_tensor_value_info(n, PROTO[name_of(a)], a.shape) for n, a in self.inputs.items() if a is not None]
        made = [helper.make_tensor_value_info(n, PROTO[name_of(self.inputs[next(iter(self.inputs))])], None) for n in self.outputs if n]
        opsets = [helper.make_opsetid("", 26 if self.domain else self.opset)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(helper.make_graph([node], "case", given, made), opset_imports=opsets)

    def write(self, folder):
        model = self.model()
        evaluator = ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            results = evaluator.run(None, {n: a for n, a in self.inputs.items() if a is not None})
        results = dict(zip([n for n in self.outputs if n], results))
        folder.mkdir(parents=True)
        has_graph = any(isinstance(v, onnx.GraphProto) for v in self.attributes.values())
        if has_graph:
            onnx.save(model, folder / "model.onnx")

        def tensors(names, arrays, prefix):
            listed = []
            for i, (name, array) in enumerate(zip(names, arrays)):
                if array is None:
                    listed.append(None)
                    continue
                array = np.asarray(array)
                file = f"{prefix}{i}_{name}.npy"
                np.save(folder / file, array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array)
                listed.append({"name": name, "file": file, "dtype": name_of(array), "shape": list(array.shape)})
            return listed

        numbers = {k: v for k, v in self.attributes.items() if not isinstance(v, onnx.GraphProto)}
        case = {"case": folder.name, "op": self.op, "domain": self.domain, "opset": self.opset, "attributes": numbers,
                "inputs": tensors(self.inputs.keys(), self.inputs.values(), "in"),
                "outputs": tensors(self.outputs, [results.get(n) for n in self.outputs], "out"), "rtol": 1e-3, "atol": 1e-7}
        (folder / "case.json").write_text(json.dumps(case, indent=1))
