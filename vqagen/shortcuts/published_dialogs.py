"""Figures of CLEVR-Dialog beside which those of a file are shown.

PAPER: Kottur et al., "CLEVR-Dialog: A Diagnostic Dataset for Multi-Round Reasoning in Visual Dialog" (NAACL 2019).
GENERATOR: measured of the public generator (commit 81a9051): 200 dialogs of ten rounds about 40 real CLEVR scenes, with
100 beams. `tokens` are words and punctuation marks, which the paper's length counts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PAPER: Mapping[str, Any] = {
    "rounds": 10,
    "dialogs_per_image": 5,
    "tokens": 10.6,
    "since_told": 3.2,
    "since_told_range": [1, 10],
    "types": {"count": [0.1, 0.2], "exist": [0.1, 0.2], "seek": [0.3, 0.6]},
    "standalone_most": 0.1,
}

GENERATOR: Mapping[str, Any] = {
    "rounds": 10,
    "dialogs_per_image": 5,
    "words": 9.268,
    "words_range": [2, 18],
    "tokens": 10.509,
    "caption_words": 9.93,
    "answers": 29,
    "history": {"None": 0.0835, "All": 0.037, "Coref": 0.8795},
    "standalone": 0.1205,
    "since_told": 3.098,
    "since_told_range": [1, 10],
    "since_told_shares": {
        1: 0.3997,
        2: 0.1137,
        3: 0.1103,
        4: 0.1046,
        5: 0.1103,
        6: 0.058,
        7: 0.0466,
        8: 0.0256,
        9: 0.0216,
        10: 0.0097,
    },
    "since_mentioned": 1.78,
    "since_mentioned_range": [0, 10],
    "since_mentioned_shares": {
        0: 0.0028,
        1: 0.5634,
        2: 0.2581,
        3: 0.0915,
        4: 0.0256,
        5: 0.0381,
        6: 0.0148,
        7: 0.0034,
        8: 0.0011,
        10: 0.0011,
    },
    "types": {"count": 0.2285, "exist": 0.1715, "seek": 0.6},
    "types_of_round": {
        1: {"count": 0.355, "exist": 0.29, "seek": 0.355},
        2: {"count": 0.095, "exist": 0.005, "seek": 0.9},
        3: {"count": 0.005, "exist": 0.0, "seek": 0.995},
        4: {"count": 0.035, "exist": 0.025, "seek": 0.94},
        5: {"count": 0.18, "exist": 0.16, "seek": 0.66},
        6: {"count": 0.29, "exist": 0.295, "seek": 0.415},
        7: {"count": 0.385, "exist": 0.265, "seek": 0.35},
        8: {"count": 0.32, "exist": 0.295, "seek": 0.385},
        9: {"count": 0.0, "exist": 0.0, "seek": 1.0},
        10: {"count": 0.62, "exist": 0.38, "seek": 0.0},
    },
    "last_round_bits": 0.958,
    "captions": {
        "obj-relation": 0.51,
        "unique-obj": 0.2,
        "extreme-left": 0.065,
        "extreme-right": 0.045,
        "extreme-front": 0.045,
        "extreme-behind": 0.045,
        "extreme-center": 0.0,
        "count-att": 0.06,
        "count-att-no": 0.03,
    },
    "labels": {
        "count-all": 0.0165,
        "count-other": 0.026,
        "count-all-group": 0.0,
        "count-attribute": 0.03,
        "count-attribute-group": 0.009,
        "count-obj-rel-imm": 0.015,
        "count-obj-rel-imm2": 0.0,
        "count-obj-rel-early": 0.067,
        "count-obj-exclude-imm": 0.0125,
        "count-obj-exclude-early": 0.0525,
        "exist-other": 0.011,
        "exist-attribute": 0.037,
        "exist-attribute-group": 0.007,
        "exist-obj-rel-imm": 0.014,
        "exist-obj-rel-imm2": 0.001,
        "exist-obj-rel-early": 0.0485,
        "exist-obj-exclude-imm": 0.011,
        "exist-obj-exclude-early": 0.042,
        "seek-attr-imm": 0.044,
        "seek-attr-imm2": 0.138,
        "seek-attr-early": 0.0895,
        "seek-attr-sim-early": 0.099,
        "seek-attr-rel-imm": 0.1,
        "seek-attr-rel-early": 0.1295,
    },
    "yes": {
        "exist-other": 0.7727,
        "exist-attribute": 0.4189,
        "exist-attribute-group": 0.5714,
        "exist-obj-rel-imm": 0.75,
        "exist-obj-rel-imm2": 0.0,
        "exist-obj-rel-early": 0.6701,
        "exist-obj-exclude-imm": 0.5455,
        "exist-obj-exclude-early": 0.6071,
    },
    "guessed": 0.271,
}
"""`yes` is the share of "yes" among the answers of a label; `guessed` the share of answers that are the most frequent
one of their label."""
