"""What is measured, without a kernel: the table of goals, figures, references, peers."""

import pathlib
import sys
import unittest
from unittest.mock import patch

import numpy

import cases
from formulas import rotated, t5_bucket
from goals import Row, chosen, parse_goals, read_goals
from judge import judged
from measure import slope_of
from peers import Peers
from problem import Problem, Skipped
from timing import Samples, in_turn, paired_ratio

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TABLE = '[[row]]\nname = "a"\ncase = "c"\nkernel = "causal"\n'


class Goals(unittest.TestCase):
    def test_the_table_is_read(self):
        rows = {row.name: row for row in read_goals(SOURCE / "bench/goals.toml")}
        self.assertEqual(rows["sdpa"].goals["peak"], 0.84)
        self.assertEqual(rows["window"].parameters, {"window": 512})
        self.assertEqual(rows["bf16_128"].stretch["peak"], 0.80)
        self.assertEqual(rows["sdpa_2"].beside, {"row": "sdpa", "times": 1.9})

    def refused(self, text, sentence):
        with self.assertRaises(Problem) as caught:
            parse_goals(text)
        self.assertEqual(str(caught.exception), sentence)

    def test_wrong_words_are_refused_with_the_right_ones(self):
        self.refused(TABLE + 'counts = "cycles"', "goals, row 'a': counts 'cycles' is not known; there are flops, bytes, time")
        self.refused(TABLE.replace("causal", "c") + TABLE.replace('"a"', '"b"') + 'beside = {row = "a", times = 1, on = "paper"}',
                     "goals, row 'b': beside on 'paper' is not known; there are visible, visited")
        self.refused(TABLE + TABLE, "goals, row 'a': is there twice; names are unique")
        self.refused('[[row]]\nname = "a"\nkernel = "causal"', "goals, row 'a': has no case")
        self.refused(TABLE + 'peers = ["torch"]\ngoals = {"peer.flex" = 2.0}',
                     "goals, row 'a': goal 'peer.flex' names a peer that is not measured; the row's peers are torch")

    def test_a_row_brings_the_one_it_is_compared_with(self):
        rows = read_goals(SOURCE / "bench/goals.toml")
        self.assertEqual([row.name for row in chosen(rows, ["alibi"])], ["sdpa", "alibi"])


class Figures(unittest.TestCase):
    def test_a_slope_is_that_of_the_best_line(self):
        self.assertAlmostEqual(slope_of([(256, 1.0), (512, 4.0), (1024, 16.0)]), 2)
        self.assertAlmostEqual(slope_of([(10, 3.0), (100, 30.0)]), 1)

    def test_a_ratio_is_taken_within_rounds(self):
        # the second round was slow for both
        self.assertEqual(paired_ratio(Samples(1, [2.0, 20.0, 2.0]), Samples(1, [1.0, 10.0, 1.0])), 2)

    def test_every_contender_has_a_sample_of_each_round(self):
        calls = []
        times = {name: lambda repeats, name=name: calls.append(name) or 1e-3 for name in "ab"}
        samples = in_turn(times, 0, least_rounds=3, stretch_s=0)
        self.assertEqual([len(s.seconds) for s in samples.values()], [3, 3])
        self.assertEqual("".join(calls)[4:], "abbaab")  # after two warm calls each

    def test_after_a_rest_one_call_is_not_counted(self):
        calls = []
        samples = in_turn({"a": lambda repeats: calls.append(repeats) or 1e-3}, 0, least_rounds=2, stretch_s=4e-3, rest_s=1e-6)
        self.assertEqual((calls[2:], len(samples["a"].seconds)), ([1, 4, 1, 4], 2))

    def test_goals_are_met_or_missed_or_not_measured(self):
        row = Row("a", "c", "causal", peers=["torch", "flex"], goals={"peak": 0.8, "best_peer": 1.2, "peer.flex": 3, "most_us": 5},
                  beside={"row": "plain", "times": 0.9})
        result = {"peak_share": 0.85, "peers": {"torch": {"ratio": 1.1}, "flex": {"skipped": "no"}}, "own": {"seconds_min": 4e-6}, "speed": 9.0}
        met = {goal["goal"]: goal["met"] for goal in judged(row, result, {"plain": {"speed": 9.5}})}
        self.assertEqual(met, {"peak": True, "best_peer": False, "peer.flex": None, "most_us": True, "row.plain": True})

    def test_a_row_may_be_compared_on_the_blocks_that_it_visits(self):
        row = Row("a", "c", "causal", beside={"row": "plain", "times": 0.9, "on": "visited"})
        for share, is_met in ((0.75, True), (0.8, False)):
            goal = judged(row, {"speed": 7.0, "visible_share": share, "peers": {}}, {"plain": {"speed": 10.0}})[0]
            self.assertEqual((goal["goal"], goal["met"]), ("row.plain on visited blocks", is_met))
            self.assertAlmostEqual(goal["reached"], 0.7 / share)

    def test_a_slope_may_be_five_percent_off_that_of_the_work(self):
        row = Row("a", "c", "causal", kind="growth", goals={"growth": 1.0})
        for slope, is_met in ((1.91, True), (2.09, True), (2.11, False), (1.89, False)):
            self.assertEqual(judged(row, {"slope": slope, "work_slope": 2.0, "peers": {}}, {})[0]["met"], is_met)


class References(unittest.TestCase):
    shape = {"batch": 1, "heads": 2, "queries": 5, "keys": 5, "depth": 4, "value_depth": 3}

    def test_pairs_are_counted_by_each_mask(self):
        inputs = {"prefix": numpy.array([2]), "ids": numpy.array([[0, 0, 1, 1, 1]])}
        counts = {"scaled_dot_product": 25, "causal": 15, "sliding_window": 9, "sinks": 12, "prefix_lm": 16, "document": 13}
        for kernel, count in counts.items():
            row = Row("a", "c", kernel, parameters={"window": 2, "sinks": 1})
            self.assertEqual(cases.pairs(row, inputs, self.shape), count, kernel)

    def test_masks_of_parameters_and_of_inputs_are_those_of_the_variants(self):
        cube = {"q": numpy.zeros((1, 2, 6, 4)), "k": numpy.zeros((1, 2, 6, 4))}
        rows = {
            "window": ({"left": 2, "right": 1, "dilation": 2}, {}, 6 + 4),
            "strided": ({"stride": 2}, {}, 6 + 5 + 4 + 2),
            "chunked": ({"chunk": 4, "before": True}, {}, 4 * 4 + 2 * 6),
            "block_diffusion": ({"block": 1}, cube, 3 + 3 + 6),
            "neighbourhood": ({"width": 3, "kernel_width": 3, "kernel_height": 1}, cube, 6 * 3),
            "global_window": ({"window": 0}, {"global": numpy.array([[True] + [False] * 5])}, 6 + 5 + 5),
            "ragged": ({}, {"offsets": numpy.array([0, 2, 6])}, 4 + 16),
            "causal_offset": ({}, {"q": numpy.zeros((1, 2, 6, 4)), "k": numpy.zeros((1, 2, 9, 4))}, 4 + 5 + 6 * 4),
            "padded": ({}, {"lengths": numpy.array([2])}, 12),
            "tree": ({}, cube | {"ancestors": numpy.tri(6, 2, dtype=bool)[None]}, 6 * 4 + 1 + 2 * 5),
            "chosen_blocks": ({"query_block": 3, "key_block": 3}, {"chosen": numpy.array([[[[0, -1], [1, 0]]]])}, 9 + 18),
        }
        for kernel, (parameters, inputs, count) in rows.items():
            self.assertEqual(cases.pairs(Row("a", "c", kernel, parameters=parameters), inputs, {"queries": 6, "keys": 6}), count, kernel)

    def test_keys_of_pages_and_of_a_cache_are_those_in_order(self):
        k = numpy.random.default_rng(3).standard_normal((1, 2, 6, 4))  # [batch, heads, keys, depth]
        table, q = numpy.array([[2, 0, 1]]), numpy.zeros((1, 2, 1, 1, 4))
        hnd = numpy.empty((3, 2, 2, 4))
        for slot, page in enumerate(table[0]):
            hnd[page] = k[0, :, 2 * slot:2 * slot + 2]
        for layout, pages in (("hnd", hnd), ("nhd", hnd.swapaxes(1, 2))):
            row = Row("a", "c", "paged", parameters={"layout": layout})
            numpy.testing.assert_array_equal(cases.by_head(row, {"q": q, "k_pages": pages, "v_pages": pages, "table": table})[1], k)
        old = k.copy()
        old[:, :, 5:] = 0
        cache = {"q": q, "k": k[:, :, 5:], "v": k[:, :, 5:], "k_cache": old, "v_cache": old, "position": numpy.array([5])}
        numpy.testing.assert_array_equal(cases.by_head(Row("a", "c", "cached"), cache)[2], k)

    def test_a_turned_pair_keeps_its_length_and_its_angle_to_one_as_far_away(self):
        x = numpy.random.default_rng(4).standard_normal((2, 6))
        turned = [rotated(x, numpy.array([at, at + 3])) for at in (0, 7)]
        numpy.testing.assert_allclose((turned[0] ** 2).sum(-1), (x**2).sum(-1))
        numpy.testing.assert_allclose(turned[0][0] @ turned[0][1], turned[1][0] @ turned[1][1])

    def test_all_pairs_of_a_block_count_where_one_is_visible(self):
        causal = Row("a", "c", "causal")
        self.assertEqual(cases.visited_pairs(causal, {}, self.shape, 2, 2), (1 + 2 + 3) * 4)
        self.assertEqual(cases.visited_pairs(causal, {}, self.shape, 1, 1), 15)

    def test_work_is_that_of_visible_pairs(self):
        self.assertEqual(cases.work(Row("a", "c", "causal"), {}, self.shape), 15 * 2 * 2 * (4 + 3))
        linear = {"rows": 2, "hidden": 3, "model": 5}
        self.assertEqual(cases.work(Row("a", "c", "Linear"), {}, linear), 60)
        self.assertEqual(cases.work(Row("a", "c", "LinearPanels"), {}, {"rows": 2, "panels": 3, "column": 1, "model": 5}), 60)
        keys = {"k": numpy.zeros((1, 2, 5, 4)), "v": numpy.zeros((1, 2, 5, 3))}
        self.assertEqual(cases.work(Row("a", "c", "grouped_query", counts="bytes"), keys, self.shape), 280)

    def test_weights_in_panels_are_those_that_peers_take(self):
        w = numpy.arange(6 * 4).reshape(6, 4)  # [hidden, model]
        in_panels = w.reshape(2, 3, 4).swapaxes(1, 2)
        numpy.testing.assert_array_equal(cases.linear_weights(Row("a", "c", "LinearPanels"), {"w": in_panels}), w)
        numpy.testing.assert_array_equal(cases.linear_weights(Row("a", "c", "Linear"), {"w": w}), w)
        heads = {f"w{n}": numpy.arange(2 * 3 * 4).reshape(2, 3, 4) + i for i, n in enumerate("qkv")}  # [heads, depth, model]
        wo, bo = numpy.arange(4 * 2 * 3).reshape(4, 2, 3), numpy.arange(4)  # [model, heads, depth], [model]
        plain = heads | {"wo": wo, "bo": bo}
        panels = {name: x.swapaxes(1, 2) for name, x in heads.items()} | {"wo": wo.reshape(2, 2, 2, 3).transpose(0, 2, 3, 1), "bo": bo.reshape(2, 2)}
        for parameters, given in (({}, plain), ({"panels": True}, panels)):
            taken = cases.layer_weights(Row("a", "c", "multi_head", parameters=parameters), given)
            for name, x in plain.items():
                numpy.testing.assert_array_equal(taken[name], x)

    def test_buckets_are_those_of_t5(self):
        least = {0: 0, 7: 7, 8: 8, 11: 8, 12: 9, 16: 10, 23: 11, 32: 12, 46: 13, 64: 14, 91: 15, 1000: 15}
        for distance, bucket in least.items():
            self.assertEqual(t5_bucket(numpy.array(-distance)), bucket)
            self.assertEqual(t5_bucket(numpy.array(distance)), bucket + (16 if distance else 0))

    def test_a_wrong_element_is_seen(self):
        row = Row("a", "c", "causal")
        random = numpy.random.default_rng(2)
        inputs = {n: random.standard_normal((1, 2, 5, 4), "float32") for n in "qkv"}
        right, _, _ = cases.attention(row, inputs, *(inputs[n] for n in "qkv"), numpy.arange(5))
        self.assertTrue(numpy.allclose(right[:, :, 0], inputs["v"][:, :, 0]))  # the first query sees the first key alone
        difference, allowed = cases.difference(row, inputs, right)
        self.assertLessEqual(difference, allowed)
        right[0, 1, 3, 2] += 1e-3
        difference, allowed = cases.difference(row, inputs, right)
        self.assertGreater(difference, allowed)

    def test_bf16_is_the_nearest(self):
        from own import from_bf16, to_bf16

        x = numpy.array([1.0, 1.00390625, 1.01171875, -3.14159274], "float32")  # halfway cases go to even
        self.assertEqual(from_bf16(to_bf16(x)).tolist(), [1.0, 1.0, 1.015625, -3.140625])


class PeersThatAreMissing(unittest.TestCase):
    def test_what_is_not_installed_is_skipped_in_words_and_hides_no_other(self):
        row, inputs = Row("a", "c", "scaled_dot_product"), {name: numpy.zeros((1, 1, 2, 4), "float32") for name in "qkv"}
        missing = {name: None for name in ("openvino", "torch", "onnx", "onnxruntime")}
        with patch.dict(sys.modules, missing), patch.object(sys, "prefix", "/nowhere"):
            peers = Peers(None)
            for name, words in (("openvino", "openvino"), ("onednn", "oneDNN: /nowhere/lib/"), ("torch", "torch"), ("onnxruntime", "onnx")):
                with self.assertRaises(Skipped) as caught:
                    peers.call(name, row, inputs)
                self.assertIn(words, str(caught.exception))

    def test_only_what_a_peer_can_do_is_asked_of_it(self):
        inputs = {name: numpy.zeros((1, 1, 2, 4), "float32") for name in "qkv"}
        for name, row in (("openvino", Row("a", "c", "scaled_dot_product", type="bf16")), ("onednn", Row("a", "c", "scaled_dot_product", threads=2))):
            with self.assertRaisesRegex(Skipped, "is measured in f32"):
                Peers(None).call(name, row, inputs)


if __name__ == "__main__":
    unittest.main()
