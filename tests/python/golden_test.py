"""Compares the vectors of `posbench export` with transformers, which computes them in double precision here.

golden_test.py PROGRAM      skipped if PyTorch or transformers is missing
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

os.environ.update(HF_HUB_OFFLINE="1")
try:
    import torch
    import transformers
    from safetensors.torch import load_file
    from transformers import DeepseekV4Config, LlamaConfig, T5Config
    from transformers.models.bloom import modeling_bloom
    from transformers.models.deepseek_v4 import modeling_deepseek_v4 as deepseek
    from transformers.models.inkling import modeling_inkling as inkling
    from transformers.models.llama import modeling_llama
    from transformers.models.t5 import modeling_t5
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parents[2]
WORK = tempfile.TemporaryDirectory(prefix="posbench-golden-")
TOLERANCE = 1e-6
torch.set_num_threads(1)


def golden(encoding, **options):
    """Returns the arrays of an encoding as tensors."""
    path = Path(WORK.name) / "vectors.safetensors"
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    subprocess.run([PROGRAM, "export", encoding, "-o", path, *words], check=True)
    return load_file(path)


@contextlib.contextmanager
def double_precision():
    """Makes transformers compute in double precision where it asks for single precision."""
    with mock.patch.multiple(torch, float=torch.float64, float32=torch.float64):
        with mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
            yield


def check(name, theirs, ours):
    """Checks that two tensors agree to 1e-6, relative to the values if these are larger than 1."""
    assert theirs.shape == ours.shape, (name, theirs.shape, ours.shape)
    assert theirs.dtype == torch.float64, (name, theirs.dtype)
    difference = ((theirs - ours).abs() / ours.abs().clamp(min=1)).max().item()
    assert difference <= TOLERANCE, (name, difference)
    return difference


def rotary_embedding(scaling, width, longest, theta=10000.0):
    """Returns the module of Llama with these parameters. Versions before 5 have them in two arguments."""
    common = dict(hidden_size=2 * width, num_attention_heads=2, head_dim=width, max_position_embeddings=longest)
    if int(transformers.__version__.split(".")[0]) >= 5:
        config = LlamaConfig(**common, rope_parameters={"rope_theta": theta, **scaling})
    else:
        config = LlamaConfig(**common, rope_theta=theta, rope_scaling=scaling)
    return modeling_llama.LlamaRotaryEmbedding(config)


def check_rotation(encoding, scaling, longest, width=16, positions=None, theta=10000.0, **options):
    """Compares frequencies, cosines and sines, rotated queries and keys, and scores."""
    if positions is not None:
        options["positions"] = ",".join(str(p) for p in positions)
    ours = golden(encoding, head_width=width, **options)
    position_ids = ours["positions"].long()[None]
    q, k = ours["q"][None], ours["k"][None]
    with double_precision():
        module = rotary_embedding(scaling, width, longest, theta)
        cos, sin = module(q, position_ids)
        rotated_q, rotated_k = modeling_llama.apply_rotary_pos_emb(q, k, cos, sin)
        scores = rotated_q @ rotated_k.transpose(2, 3) * width**-0.5
    relative = (module.inv_freq / ours["inv_freq"] - 1).abs().max().item()
    assert relative <= TOLERANCE, (encoding, relative)
    worst = max(
        check("cos", cos[0], torch.cat((ours["cos"], ours["cos"]), -1)),
        check("sin", sin[0], torch.cat((ours["sin"], ours["sin"]), -1)),
        check("rotated_q", rotated_q[0], ours["rotated_q"]),
        check("rotated_k", rotated_k[0], ours["rotated_k"]),
        check("scores", scores[0].tril(), ours["scores"]),
    )
    print(f"{encoding}: inverse frequencies within {relative:.1e}, the rest within {worst:.1e}")


HALF = "base=(rope:pairing=half_split)"


def test_rope():
    check_rotation("rope:pairing=half_split", {"rope_type": "default"}, 2048, positions=[0, 1, 7, 1000, 2047])
    check_rotation("rope:pairing=half_split,base=500000", {"rope_type": "default"}, 64, theta=500000.0, width=128)


def test_linear():
    check_rotation(f"interpolated:{HALF},scale=4", {"rope_type": "linear", "factor": 4.0}, 64)


def test_ntk():
    """The scaling that does not depend on the length is the dynamic one of this length with the factor 1."""
    scaling = {"rope_type": "dynamic", "factor": 1.0}
    check_rotation(f"interpolated:{HALF},method=ntk,scale=4", scaling, 4, length=16)


def test_ntk_dynamic():
    for length in 8, 9, 30:
        scaling = {"rope_type": "dynamic", "factor": 2.0}
        check_rotation(f"interpolated:{HALF},method=ntk_dynamic,original=8,alpha=2", scaling, 8, length=length)


def test_yarn():
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    spec = f"interpolated:{HALF},method=yarn,scale=4,original=64"
    check_rotation(spec, scaling, 256, positions=[0, 1, 2, 63, 64, 255])
    check_rotation(spec, scaling, 256, width=128)
    custom = {**scaling, "beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.3}
    check_rotation(f"{spec},beta_fast=16,beta_slow=2,attention_factor=1.3", custom, 256, width=64)


def test_llama3():
    for original, width, factor in (8192, 128, 8.0), (8192, 64, 32.0), (16, 16, 4.0), (64, 16, 4.0):
        scaling = {
            "rope_type": "llama3",
            "factor": factor,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": original,
        }
        theta = "500000" if original == 8192 else "10000"
        spec = (
            f"interpolated:base=(rope:base={theta},pairing=half_split),method=llama3,scale={factor},original={original}"
        )
        longest = int(original * factor)
        positions = [0, 1, 2, original - 1, longest - 1]
        check_rotation(spec, scaling, longest, width, positions, theta=float(theta))
        scaling.update(low_freq_factor=0.5, high_freq_factor=2.0)
        check_rotation(
            f"{spec},low_freq_factor=0.5,high_freq_factor=2", scaling, longest, width, positions, theta=float(theta)
        )


def test_longrope():
    short, long = [1.0, 1.05, 1.1, 1.5], [1.0, 2.25, 3.5, 4.0]
    scaling = {
        "rope_type": "longrope",
        "factor": 4.0,
        "short_factor": short,
        "long_factor": long,
        "original_max_position_embeddings": 8,
    }
    spec = f"interpolated:{HALF},method=longrope,scale=4,original=8"
    spec += "".join(f",{name}_factor={'/'.join(map(str, f))}" for name, f in (("short", short), ("long", long)))
    for length in 8, 9, 32:
        check_rotation(spec, scaling, 32, width=8, length=length)
    check_rotation(f"{spec},attention_factor=1.5", {**scaling, "attention_factor": 1.5}, 32, width=8, length=20)


def test_alibi():
    """BLOOM adds slope times position of the key, which differs by a constant for each query."""
    for heads in 8, 12, 20:
        ours = golden("alibi", heads=heads, length=20)["bias"]
        with double_precision():
            alibi = modeling_bloom.build_alibi_tensor(torch.ones(1, 20), heads, torch.float64).reshape(heads, 1, 20)
        theirs = (alibi - alibi.transpose(1, 2)).tril()
        print(f"alibi of {heads} heads: within {check('alibi', theirs, ours):.1e}")


def test_t5_bias():
    for attention in "causal", "bidirectional":
        ours = golden("t5_bias", attention=attention, heads=4, length=300)
        config = T5Config(num_heads=4, d_kv=8, d_model=32, is_decoder=attention == "causal", use_cache=False)
        module = modeling_t5.T5Attention(config, has_relative_attention_bias=True).double()
        with torch.no_grad():
            module.relative_attention_bias.weight.copy_(ours["parameters.t5_bias.table"])
            theirs = module.compute_bias(300, 300)[0]
        if attention == "causal":
            theirs = theirs.tril()
        print(f"t5_bias, {attention}: within {check('t5_bias', theirs, ours['bias']):.1e}")


@torch.no_grad()
def test_inkling():
    """Half of the trained length is the extent, so that some keys have no bias."""
    ours = golden("inkling")
    p = {name.split(".")[2]: values for name, values in ours.items() if name.endswith(".0")}
    bank, at = inkling.InklingRelativeLogits(16, 8).double(), torch.arange(16)
    bank.proj.copy_(p["profiles"].T)
    with double_precision():
        for x, gain in ("q", "query_gain"), ("k", "key_gain"):
            norm = inkling.InklingRMSNorm(8, eps=1e-5)
            norm.weight.data = p[gain][0]
            p[x] = norm(ours[x])
        bias = bank((ours["x"] @ p["mixing"]).view(1, 16, 2, 16), at, at)
    print(f"inkling: {check('inkling', (p['q'] @ p['k'].mT / 8 + bias[0]).tril(), ours['scores']):.1e}")


@torch.no_grad()
def test_deepseek_v4():
    """Values are rotated, and the output is rotated back. Theirs rotates the last components of a head, ours the first."""
    ours = golden("deepseek_v4", head_width=64)
    config = DeepseekV4Config(head_dim=64, hidden_size=128, num_attention_heads=2)
    layer = mock.Mock(num_key_value_groups=1, sinks=ours["parameters.sink_logit.logit.0"][0], training=False)
    with double_precision():
        cos, sin = deepseek.DeepseekV4RotaryEmbedding(config)(ours["q"], ours["positions"][None], layer_type="compress")
        n = 2 * cos.shape[-1]

        def rotate(x, sin):
            return deepseek.apply_rotary_pos_emb(x.roll(-n, -1), cos, sin).roll(n, -1)

        q, k, v = (rotate(ours[x][None], sin) for x in "qkv")
        mixed, _ = deepseek.eager_attention_forward(layer, q, k, v, torch.full((16, 16), -torch.inf).triu(1), 1 / 8)
        theirs = rotate(mixed.transpose(1, 2), -sin)[0]
    print(f"deepseek_v4: {check('deepseek_v4', theirs, ours['output']):.1e}")


def run(command):
    environment = {**os.environ, "PATH": f"{WORK.name}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", command], cwd=WORK.name, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )


def test_page():
    """Runs the commands and the lines of docs/golden.md, and compares the output with that of the page."""
    (Path(WORK.name) / "posbench").symlink_to(PROGRAM)
    text = (ROOT / "docs/golden.md").read_text()
    write, against, write_yarn = (
        command.replace("\n", " ").replace("\\", "")
        for command in re.findall(r"^    (posbench (?:export|check) .*?)\n\n", text, re.M | re.S)
    )
    lines, yarn = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    [shown] = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)

    def outcome(command, script):
        subprocess.run([sys.executable, "-c", script], cwd=WORK.name, check=True)
        compared = run(command)
        return compared.returncode, re.sub(r"\d\.\de-\d\d", "N", compared.stdout)

    assert run(write).returncode == 0
    assert outcome(against, lines) == (0, re.sub(r"\d\.\de-\d\d", "N", shown))
    code, printed = outcome(against, lines.replace('"high_freq_factor": 4.0', '"high_freq_factor": 3.0'))
    assert code == 1 and "DIFFERENT" in printed, printed
    assert run(write_yarn).returncode == 0
    lines = re.sub(r"^scaling = .*?}\n", yarn, lines, flags=re.M | re.S).replace(
        "llama3.safetensors", "yarn.safetensors"
    )
    code, printed = outcome(
        write_yarn.replace("export", "check").replace("-o yarn.safetensors", "--against theirs.safetensors"), lines
    )
    assert code == 0, printed


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"passed: {name}", flush=True)
