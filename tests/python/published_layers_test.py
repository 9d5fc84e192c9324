"""Compares layers, and patterns of layers, with those of transformers and of flash-linear-attention (fla).

published_layers_test.py PROGRAM      prints the largest differences of logits

A model has one layer with the gated delta rule. Its parameters go into the published layer, in which each published
implementation of the rule is called in turn, and PyTorch computes the rest of the model. Short convolutions are those
of Inkling; shifted keys and smeared embeddings are written here as KellerJordan/modded-nanogpt describes them.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    import torch.nn.functional as F
    from transformers import DeepseekV4Config, InklingTextConfig
    from transformers.models.inkling.modeling_inkling import InklingShortConvolution
    from transformers.models.kimi_linear import modeling_kimi_linear as kimi
    from transformers.models.olmo_hybrid import modeling_olmo_hybrid as olmo
    from transformers.models.qwen3_next import modeling_qwen3_next as qwen
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = str(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from posbench._safetensors import read_arrays  # noqa: E402

WIDTH, HEADS = 16, 2
SETTINGS = f"model.width={WIDTH} model.heads={HEADS} model.layers=1 training.steps=20".split()
RUN = ["run", "--profile", "smoke", "-t", "flip_flop", "-e", "none", "-s", "1", "--save-models"]
RUN += [word for setting in SETTINGS for word in ("--set", setting)]


def program(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def arrays(path):
    return {name: torch.from_numpy(values) for name, values in read_arrays(path)[0].items()}


def naive(part, function):
    """Returns a reference of fla, or None without fla, whose package cannot be imported on a machine without a GPU."""
    package = importlib.util.find_spec("fla")
    if package is None:
        return None
    path = Path(package.submodule_search_locations[0]) / "ops" / part / "naive.py"
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(part, path))
    module.__spec__.loader.exec_module(module)

    def rule(q, k, v, g, beta, **_):
        q, k = (x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
        return getattr(module, function)(q, k, v, g=g, beta=beta)

    return rule


def rules(by_channel):
    """Returns the module of a layer, the name of the rule that it calls, and the implementations of it."""
    if by_channel:
        token, chunks = kimi.recurrent_kimi_delta_attention, kimi.chunk_kimi_delta_attention
        return (
            kimi,
            chunks.__name__,
            {"fla": naive("kda", "naive_recurrent_kda"), "kimi": token, "kimi, chunks": chunks},
        )
    token, chunks = qwen.torch_recurrent_gated_delta_rule, qwen.torch_chunk_gated_delta_rule
    fla = naive("gated_delta_rule", "naive_recurrent_gated_delta_rule")
    return olmo, chunks.__name__, {"fla": fla, "qwen3_next": token, "qwen3_next, chunks": chunks}


def published_layer(p, strength, by_channel):
    """Returns the layer of Kimi Linear (a decay of each channel) or of Olmo Hybrid, with these parameters."""
    own = {f"{x}_proj.weight": part for x, part in zip("qkv", p["qkv.weight"].T.chunk(3))}
    own["conv1d.weight"] = p["convolution"].flip(0).T[:, None]  # ours begins with the token, theirs ends with it
    own |= {"o_norm.weight": p["norm.weight"][0], "o_proj.weight": p["out.weight"].T}
    gate, speed, bias = p["gate.weight"].T, p["decay_speed"], p["step_bias"][0]
    size = WIDTH // HEADS
    if by_channel:
        sizes = {"linear_num_heads": HEADS, "linear_head_dim": size}
        layer = kimi.KimiLinearDeltaAttention(kimi.KimiLinearConfig(hidden_size=WIDTH, **sizes), 0)
        layer.g_a_proj, layer.g_b_proj = torch.nn.Identity(), torch.nn.Linear(WIDTH, WIDTH, bias=False)
        layer.o_norm = qwen.Qwen3NextRMSNormGated(size, eps=1e-5)  # the gate is ours: of full rank, with silu
        own |= {f"forget_gate.f_{x}_proj.weight": p[f"decay_{y}.weight"].T for x, y in (("a", "down"), ("b", "up"))}
        own |= {"forget_gate.dt_bias": bias, "forget_gate.A_log": speed.view(1, 1, -1, 1)}
        own |= {"g_b_proj.weight": gate, "b_proj.weight": p["strength.weight"].T}
    else:
        sizes = {"linear_key_head_dim": size, "linear_value_head_dim": size, "num_attention_heads": HEADS}
        config = olmo.OlmoHybridConfig(hidden_size=WIDTH, linear_allow_neg_eigval=strength == 2, **sizes)
        layer = olmo.OlmoHybridGatedDeltaNet(config, 0)
        own |= {f"{x}_proj.weight": part for x, part in zip("ab", p["rates.weight"].T.chunk(2))}
        own |= {"g_proj.weight": gate, "A_log": speed[0], "dt_bias": bias}
    layer.load_state_dict(own)
    return layer


def linear(p, x, name):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


def convolve(p, x, name):
    """Returns x after the convolution of this name, if the model has it."""
    if name in p:
        layer = InklingShortConvolution(x.shape[-1], 4, 0, 0)
        layer.conv1d.weight = torch.nn.Parameter(p[name].T[:, None])
        x = layer(x)
    return x


def attention(p, offset=0):
    """Returns a layer of attention. The last `offset` components of a head's keys are those of the token before."""

    def layer(x):
        qkv = convolve(p, linear(p, x, "blocks.0.attention.qkv"), "blocks.0.attention.convolution")
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in qkv.chunk(3, -1))
        if offset:
            k[:, :, 1:, -offset:] = k[:, :, :-1, -offset:].clone()
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return linear(p, mixed.transpose(1, 2).flatten(-2), "blocks.0.attention.out")

    return layer


def logits(p, layer, tokens):
    def norm(x, name):
        return F.layer_norm(x, (WIDTH,), p[f"{name}.weight"][0], p[f"{name}.bias"][0])

    x = p["embedding.weight"][tokens]
    if "smear.gate" in p:
        x = torch.cat((x[:, :1], x[:, 1:] + p["smear.factor"] * (x[:, 1:] @ p["smear.gate"]).sigmoid() * x[:, :-1]), 1)
    x = x + layer(convolve(p, norm(x, "blocks.0.norm1"), "blocks.0.convolution"))
    inner = convolve(p, norm(x, "blocks.0.norm2"), "blocks.0.feed_forward.convolution")
    inner = convolve(p, linear(p, inner, "blocks.0.feed_forward.up"), "blocks.0.feed_forward.up_convolution")
    x = x + linear(p, F.gelu(inner, approximate="tanh"), "blocks.0.feed_forward.down")
    return linear(p, norm(x, "final_norm"), "output")


def train(folder, name, *settings):
    """Returns the parameters of a model, and a function that prints the difference of its logits from others."""
    program(*RUN, *(word for setting in settings for word in ("--set", setting)), "-o", folder / "run")
    program("export", folder / "run", "flip_flop", "none", "-n", 16, "-o", folder / "l.safetensors")
    sample = ["export", "flip_flop", "--profile", "smoke", "--split", "in_distribution", "-n", 16]
    program(*sample, "-o", folder / "s.safetensors")
    drawn, ours = arrays(folder / "s.safetensors"), arrays(folder / "l.safetensors")["logits"]
    rows, columns = (drawn["scored_positions"] >= 0).nonzero(as_tuple=True)
    at = drawn["scored_positions"][rows, columns].long()

    def difference(what, parameters, layer):
        theirs = logits(parameters, layer, drawn["tokens"].long())
        largest = (theirs[rows, at] - ours[rows, columns]).abs().max().item()
        print(f"{name:<26} {what:<42} {largest:.1e}")
        return largest

    return arrays(folder / "run/models/flip_flop-none-0.safetensors"), difference


@torch.no_grad()
def compare_mixing(folder):
    """Compares short convolutions at all places, shifted keys and smeared embeddings in one layer of attention."""
    settings = "model.convolution=a,b,c,d", "model.key_offset=0.5", "model.smear=true", "training.learning_rate=0.05"
    p, difference = train(folder, "local mixing", *settings)
    half = WIDTH // HEADS // 2
    assert difference("inkling, modded-nanogpt", p, attention(p, half)) < 1e-5
    assert difference("without shifted keys", p, attention(p)) > 1e-3
    assert difference("without smearing", {k: x for k, x in p.items() if k != "smear.gate"}, attention(p, half)) > 1e-3
    for name in (name for name in p if "convolution" in name):
        other = {**p, name: p[name].flip(0)}
        assert difference(f"{name.removeprefix('blocks.0.')} reversed", other, attention(other, half)) > 1e-3


@torch.no_grad()
def compare_layers(folder, options, strength, by_channel):
    p, difference = train(folder, f"gated_delta:{options}", f"model.block=gated_delta:{options}")
    p |= {name.removeprefix("blocks.0.gated_delta."): values for name, values in p.items()}

    def compare(what, parameters=p, strength=strength):
        return difference(what, parameters, published_layer(parameters, strength, by_channel))

    module, name, implementations = rules(by_channel)
    for what, rule in implementations.items():
        if rule is not None:  # transformers would call kernels that are installed in place of its own code
            setattr(module, name, getattr(rule, "__wrapped__", rule))
            assert compare(what) < 1e-5
    assert by_channel or compare("with the other strength", strength=3 - strength) > 1e-3
    assert compare("with taps in reverse", {**p, "convolution": p["convolution"].flip(0)}) > 1e-3


def compare_patterns():
    # The default of kimi_linear differs from its released configuration, which counts layers from 1.
    released = {"kda_layers": [1, 2, 3, 5, 6, 7], "full_attn_layers": [4, 8]}
    configs = {"qwen3_next": qwen.Qwen3NextConfig, "olmo_hybrid": olmo.OlmoHybridConfig}
    configs["kimi_linear"] = lambda **_: kimi.KimiLinearConfig(num_hidden_layers=8, linear_attn_config=released)
    for name, config in configs.items():
        for depth in range(4, 9):
            own = json.loads(program("run", "--profile", name, "--set", f"model.layers={depth}", "--show-config"))
            kinds = (own["model"]["block"].split(",") * depth)[:depth]
            theirs = config(num_hidden_layers=depth).layer_types[:depth]
            assert [k.startswith("gated_delta") for k in kinds] == [k == "linear_attention" for k in theirs], name
    spec = json.loads(program("run", "--profile", "inkling_model", "--show-config"))["encodings"][0]
    for depth in range(6, 13):
        rows = re.findall(r"^(\d+)-?(\d*) +(\S+)$", program("show", spec, "--layers", depth), re.MULTILINE)
        hides = [of.endswith("0.25x") for first, last, of in rows for _ in range(int(first), int(last or first) + 1)]
        assert hides == [k == "hybrid_sliding" for k in InklingTextConfig(num_hidden_layers=depth).layer_types], depth
    v4, shown = DeepseekV4Config(), program("show", "deepseek_v4")  # all its layers have the same angles
    expected = "fraction={partial_rotary_factor},base={rope_theta:.0f},".format(**v4.rope_parameters["compress"])
    assert expected in shown and "sliding_attention" not in v4.layer_types


with tempfile.TemporaryDirectory() as directory:
    compare_mixing(Path(directory))
for case in (("strength=1", 1, False), ("strength=2", 2, False), ("decay=channel", 1, True)):
    with tempfile.TemporaryDirectory() as directory:
        compare_layers(Path(directory), *case)
compare_patterns()
