"""Runs the Python of README.md and of pages of docs/ as a reader would.

tutorial_test.py PROGRAM [PAGE...]      the program of the tutorial, which has its encoding; without pages, all of them
"""

import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path

try:
    import pandas  # noqa: F401
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
# The blocks with these words need a library, and are left out without it.
LIBRARIES = {
    "posbench.log.": "tensorboard",
    "to_parquet": "pyarrow",
    "posbench.datasets": "datasets",
    '.save("figures': "vl_convert",
    "x_transformers": "x_transformers",
    "from transformers": "transformers",
    "import equinox": "equinox",
    "eqx.": "equinox",
}
PAGES = {"README.md": 1, "docs/python.md": 6, "docs/mixers.md": 4, "docs/jax.md": 3}  # the smallest number of blocks
os.environ["POSBENCH_PROGRAM"] = str(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(ROOT / "python"))
torch.set_num_threads(1)
folder = tempfile.TemporaryDirectory(prefix="posbench-tutorial-")
os.chdir(folder.name)

for page in sys.argv[2:] or PAGES:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    if len(blocks) < PAGES[page]:
        sys.exit(f"{page} has {len(blocks)} blocks of Python, expected {PAGES[page]}")
    names: dict = {}
    for block in blocks:
        missing = [name for word, name in LIBRARIES.items() if word in block and not importlib.util.find_spec(name)]
        if missing:
            print(f"not run without {missing[0]}: a block of {page}")
            continue
        if page == "README.md":  # in seconds, so that the settings are not those of the stored results
            block = block.replace("quick", "smoke").replace("stored=", "allow_different_budget=True, stored=")
        exec(compile(block, page, "exec"), names)
    assert page != "README.md" or len(blocks[0].strip().splitlines()) <= 15, "README.md: the example is too long"
print("passed")
