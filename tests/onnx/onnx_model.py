"""Models of ONNX, and what ONNX's reference gives for them, as files that tests read."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Model:
    def __init__(self, name, opset=23):
        self.name, self.opset, self.nodes, self.constants, self.inputs, self.arrays = name, opset, [], [], [], {}

    def input(self, name, array, shape=None):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape or array.shape))
        self.arrays[name] = array
        return name

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, output=None, name="", domain="", **attributes):
        output = output or f"/t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, domain=domain, **attributes))
        return output

    def model(self, output):
        made = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [made], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.preview", 1)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)

    def write(self, folder, output, names=None, taken=()):
        """`taken`: tensors inside the model that are inputs of the part; `names`: what the part calls its inputs."""
        model = self.model(output)
        onnx.save(model, folder / f"{self.name}.onnx")
        seen = helper.make_model(model.graph, opset_imports=model.opset_import, ir_version=10)
        for tensor in taken:
            seen.graph.output.append(helper.make_tensor_value_info(tensor, TensorProto.FLOAT, None))
        results = ReferenceEvaluator(seen).run(None, self.arrays)
        arrays = self.arrays | dict(zip(taken, results[1:]))
        for tensor, name in (names or {n: n for n in self.arrays}).items():
            np.save(folder / f"{self.name}.{name}.npy", arrays[tensor])
        np.save(folder / f"{self.name}.out.npy", results[0])


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


class Operators(Model):
    """Operators one by one: what ONNX's reference gives for each, in the order of `names`, behind one another."""

    def __init__(self, name, rng):
        super().__init__(name, 24)
        x = normal(rng, 4, 6)
        x[0] = [-2.5, -0.5, 0, 0.5, 1.5, 2.5]
        self.x, self.y = self.input("x", x), self.input("y", normal(rng, 4, 6))
        self.i, self.j = self.input("i", rng.integers(-9, 10, (4, 6))), self.input("j", rng.integers(1, 5, (4, 6)) * rng.choice([-1, 1], (4, 6)))
        self.names = []

    def result(self, tensor, name):
        self.names.append(self.node("Identity", tensor, output=name, name=name))

    def write(self, folder):
        made = [helper.make_empty_tensor_value_info(name) for name in self.names]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, made, self.constants)
        model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=11))
        onnx.save(model, folder / f"{self.name}.onnx")
        for name, array in self.arrays.items():
            np.save(folder / f"{self.name}.{name}.npy", array)
        results = ReferenceEvaluator(model).run(None, self.arrays)
        np.save(folder / f"{self.name}.out.npy", np.concatenate([np.asarray(result).astype(np.float32).ravel() for result in results]))
