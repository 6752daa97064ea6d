"""commands.py ATTUNE: `attune conformance` and `attune import` as users run them: lines, exit statuses, and a sentence for each input that is wrong."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ATTUNE = sys.argv.pop()
HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / "models"


def attune(*words):
    return subprocess.run([ATTUNE, *map(str, words)], capture_output=True, text=True, check=False)


class WithFolder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)


class Conformance(WithFolder):
    def case(self, name):
        to = self.folder / "cases" / name
        shutil.copytree(next(folder for folder in (HERE / "data" / name, HERE / "made" / name) if folder.exists()), to)
        return to

    def test_each_case_has_a_line(self):
        for name in ("attention_4d_causal", "attention_4d_gqa_causal", "attention_3d_causal_bf16"):
            self.case(name)
        for options in ([], ["--interpret"]):
            ran = attune("conformance", self.folder, *options)
            lines = ran.stdout.splitlines()
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual([line.partition(", largest error ")[0] for line in lines],
                             ["attention_3d_causal_bf16: passed", "attention_4d_causal: passed", "attention_4d_gqa_causal: passed", "3 passed, 0 failed"])

    def test_a_number_that_is_wrong_fails_its_case(self):
        y = self.case("attention_4d") / "out0_Y.npy"
        wrong = np.load(y)
        wrong.flat[3] = 7
        np.save(y, wrong)
        ran = attune("conformance", self.folder, "--interpret")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, r"^attention_4d: failed, largest error 6\.\d+: Y: 1 of 192 elements differ; worst at 3: got 0\.\d+, expected 7\n0 passed, 1 failed\n$")

    def test_a_graph_is_json_a_file_or_in_the_model_of_the_folder(self):
        name = "flex_gqa_score_and_prob"
        path = self.case(name)
        model = path / "model.onnx"
        self.assertIn("1 passed", attune("conformance", self.folder, "--interpret").stdout)
        case = json.loads((path / "case.json").read_text())
        model.rename(path / "other.onnx")
        case["attributes"] |= {"score_mod": "other.onnx"}
        (path / "case.json").write_text(json.dumps(case))  # the file's graph is that of the node, which has three inputs
        self.assertIn("graph 'case': has 3 inputs and 1 outputs; one of each is right", attune("conformance", self.folder, "--interpret").stderr)
        real = {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimParam": n} for n in "bhqk"]}}}
        doubled = {"name": "doubled", "node": [{"input": ["x", "x"], "output": ["y"], "opType": "Add"}], "input": [{"name": "x", "type": real}], "output": [{"name": "y", "type": real}]}
        case["attributes"] |= {"score_mod": doubled, "prob_mod": doubled}
        (path / "case.json").write_text(json.dumps(case))
        self.assertRegex(attune("conformance", self.folder, "--interpret").stdout, f"^{name}: failed, largest error ")  # read, and another function
        for wrong, sentence in (("none.onnx", f"attribute 'prob_mod': model '{path / 'none.onnx'}': cannot be read"),
                                ([1], "attribute 'prob_mod': is [1]; a number, a text or a graph is right")):
            case["attributes"]["prob_mod"] = wrong
            (path / "case.json").write_text(json.dumps(case))
            self.assertIn(sentence, attune("conformance", self.folder, "--interpret").stderr)

    def refusal(self, name, change):
        shutil.rmtree(self.folder / "cases", ignore_errors=True)
        path = self.case(name) / "case.json"
        case = json.loads(path.read_text())
        changed = change(case)
        path.write_text(json.dumps(case if changed is None else changed))
        ran = attune("conformance", self.folder, "--interpret")
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stdout, "0 passed, 0 failed, 1 refused\n")
        return ran.stderr.removeprefix(f"attune: case '{path.parent}': ").removesuffix("\n")

    def test_what_is_wrong_with_a_case_is_said(self):
        attributes = lambda **values: lambda case: case["attributes"].update(values)
        tensor = lambda i, **values: lambda case: case["inputs"][i].update(values)
        linear = "linear_gated_delta_gqa"
        as_input = lambda name: lambda case: case["inputs"].__setitem__(3, case["inputs"][2] | {"name": name})
        for name, sentence, change in (
                ("attention_4d", "operator 'LSTM': is not supported; ", lambda case: case.update(op="LSTM")),
                ("attention_4d", "opset 22: has no Attention; opset 23 has it first", lambda case: case.update(opset=22)),
                ("attention_4d", "attribute 'left_window_size': Attention has it from opset 25 on; the node is of opset 23", attributes(left_window_size=3)),
                ("attention_4d", "attribute 'is_causal': is 2; it must be from 0 to 1", attributes(is_causal=2)),
                ("attention_4d", "attribute 'is_causal': is 0.5; Attention takes an integer", attributes(is_causal=0.5)),
                ("attention_4d", "attribute 'softmax_precision': is 7; 1 (float32), ", attributes(softmax_precision=7)),
                ("attention_4d", "input 'Q': dtype 'complex64' is none of float32, ", tensor(0, dtype="complex64")),
                ("attention_4d", "input 'Q': 'in0_Q.npy' holds f32; dtype float16 is stored as f16", tensor(0, dtype="float16")),
                ("attention_4d", "input 'Q': 'in0_Q.npy' holds [2 x 3 x 4 x 8]; the case says [2 x 3 x 4 x 9]", tensor(0, shape=[2, 3, 4, 9])),
                ("attention_4d", "input 'Q': ", tensor(0, file="none.npy")),
                ("attention_4d", "input 'V': is missing; Attention needs it", lambda case: case["inputs"].__setitem__(2, None)),
                ("attention_4d", "input 'nonpad_kv_seqlen': Attention has it from opset 24 on; the node is of opset 23", as_input("nonpad_kv_seqlen")),
                ("attention_4d", "input 'attn_mask': is [2 x 3 x 6 x 8]; it must broadcast to [2 x 3 x 4 x 6], whose last axis may be shorter", as_input("attn_mask")),
                ("attention_4d", "output 'Z': Attention has none of the name; it has Y, ", lambda case: case["outputs"][0].update(name="Z")),
                ("attention_3d", "attribute 'q_num_heads': is missing; inputs of 3 axes need it", lambda case: case["attributes"].pop("q_num_heads") and None),
                ("attention_3d", "input 'Q' is [2 x 4 x 24]; its last axis must be a multiple of the 5 heads", attributes(q_num_heads=5)),
                ("rotary_embedding", "attribute 'rotary_embedding_dim': is 10; a head is 8 wide", attributes(rotary_embedding_dim=10)),
                (linear, "opset 26: has no LinearAttention; opset 27 has it first", lambda case: case.update(opset=26)),
                (linear, "attribute 'update_rule': is 'gated-delta'; linear, gated, delta, gated_delta are right", attributes(update_rule="gated-delta")),
                (linear, "attribute 'update_rule': is no text; LinearAttention takes one", attributes(update_rule=3)),
                (linear, "attribute 'kv_num_heads': is missing; LinearAttention needs it", lambda case: case["attributes"].pop("kv_num_heads") and None),
                (linear, "attribute 'q_num_heads': is 7; a multiple of kv_num_heads, 2, is right", attributes(q_num_heads=7)),
                (linear, "input 'decay': is there; the update rule delta has none", attributes(update_rule="delta")),
                (linear, "input 'beta': is missing; the update rule gated_delta needs it", lambda case: case["inputs"].__setitem__(5, None)),
                (linear, "input 'key': is [1 x 10 x 6]; [1 x 10 x 10] goes with the others", lambda case: case["inputs"].__setitem__(1, case["inputs"][2] | {"name": "key"})),
                (linear, "input 'value': is [1 x 2 x 5 x 3]; [batch x tokens x 2 * width] is right", lambda case: case["inputs"].__setitem__(2, case["inputs"][3] | {"name": "value"})),
                ("attention_4d", "case.json: ", lambda case: [3]),
                ("attention_4d", "case.json: ", lambda case: case.pop("inputs") and None)):
            with self.subTest(sentence):
                said = self.refusal(name, change)
                self.assertTrue(said.startswith(sentence), said)

    def test_a_folder_without_cases_is_refused(self):
        for directory, sentence in ((self.folder, "has no case.json in it or below it"), ("/dev/null", "is no folder; the folder that the cases are in is right")):
            ran = attune("conformance", directory)
            self.assertEqual((ran.returncode, ran.stderr), (2, f"attune: '{directory}': {sentence}\n"))


class Import(WithFolder):
    def difference(self, model, node, output, constants, *options):
        """How far the part is at most from what ONNX's reference gives."""
        graph, result = self.folder / "part.mlir", self.folder / "result.npy"
        ran = attune("import", MODELS / f"{model}.onnx", "--node", node, "-o", graph)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        inputs = {path.name.removeprefix(f"{model}.").removesuffix(".npy"): path for path in MODELS.glob(f"{model}.*.npy")}
        expected = np.load(inputs.pop("out"))
        inputs |= {name: self.folder / f"{name}.npy" for name in constants}
        words = [word for name, path in inputs.items() for word in ("--in", f"{name}={path}")]
        ran = attune("run", graph, *words, "--out", f"{output}={result}", *options)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(np.load(result).shape, expected.shape)
        return np.abs(np.load(result) - expected).max()

    def test_a_node_of_attention(self):
        for options in ([], ["--interpret"]):
            self.assertLess(self.difference("attention", "attention", "Y", ["attn_mask"], *options), 1e-5)

    def test_attention_as_exporters_write_it(self):
        self.assertLess(self.difference("bert", "/attention/Reshape_3", "joined", ["bq", "bk", "bv"]), 1e-5)

    def test_it_is_one_stage(self):
        graph = self.folder / "part.mlir"
        attune("import", MODELS / "bert.onnx", "--node", "/attention/MatMul_1", "-o", graph)
        self.assertIn("stage 1 of 1: online_softmax", attune("explain", graph).stdout)
        self.assertTrue(graph.read_text().startswith("// node '/attention/MatMul_1' of the model 'bert.onnx'\n// input 'q_MatMul_output_0' is /q/MatMul_output_0 [2 x 5 x 24]\n"))

    def test_what_cannot_be_imported_is_said(self):
        text = self.folder / "text.onnx"
        text.write_text("not a model")
        for words, sentence in (
                ((MODELS / "external.onnx", "nothing"), "--node 'nothing': the model has no such node; it has /t0 (MatMul), /t1 (Add), /t2 (Softmax), product (MatMul)"),
                ((MODELS / "external.onnx", "product"), "constant 'bias': its numbers are in another file (external data); a model that holds them itself is right"),
                ((MODELS / "symbolic.onnx", "attention"), "tensor 'q': axis 0 is symbolic ('batch'); --shape batch=... gives its extent"),
                ((MODELS / "unsupported.onnx", "product"), "node 'angle': operator 'Atan' is not supported; --input angles makes what it gives an input"),
                ((MODELS / "unsupported.onnx", "angle"),
                 "node 'angle': operator 'Atan' is not supported; one of attention, or the product with the values behind a softmax, is right"),
                ((self.folder / "none.onnx", "x"), f"model '{self.folder / 'none.onnx'}': cannot be read"),
                ((text, "x"), f"model '{text}': is no ONNX model, or has no nodes")):
            with self.subTest(sentence):
                ran = attune("import", words[0], "--node", words[1])
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (2, "", f"attune: {sentence}\n"))
        for words, sentence in ((("unsupported.onnx", "product", "--input", "angle_s"), "--input 'angle_s': the model has no such tensor"),
                                (("symbolic.onnx", "attention", "--shape", "batch=2,token=5"), "--shape 'token': the model has no such symbolic axis; its inputs have batch, tokens"),
                                (("past_trilu.onnx", "out", "--shape", "P=2,Q=3,R=1"), "--shape 'R': the model has no such symbolic axis; its inputs have P, Q")):
            with self.subTest(sentence):
                ran = attune("import", MODELS / words[0], "--node", *words[1:])
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (2, "", f"attune: {sentence}\n"))
        for words in (("unsupported.onnx", "product", "--input", "angles"), ("symbolic.onnx", "attention", "--shape", "batch=2,tokens=5")):
            self.assertIn("softmax", attune("import", MODELS / words[0], "--node", *words[1:]).stdout)


if __name__ == "__main__":
    unittest.main()
