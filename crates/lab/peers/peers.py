"""Other optimizers for `manyhands bench quality --against`: one line of JSON at a time.

    python3 -m venv peers && peers/bin/pip install -r crates/lab/peers/requirements.txt
    manyhands bench quality --against "optuna-gp=peers/bin/python crates/lab/peers/peers.py optuna-gp"

| name | what it is |
|---|---|
| optuna-gp, optuna-tpe | Optuna's GPSampler, and its TPESampler with all parameters together and a constant liar |
| ax | Ax through its service interface |
| botorch | SingleTaskGP and noisy q-LogEI, all points of a batch optimized together |
| egobox | Egor: log-EI, Kriging believers in a batch |
| hebo | HEBO, which needs old versions: Python 3.10 and requirements-hebo.txt, in an environment of its own |
| cma | CMA-ES |

Each is used as its documentation says, with its defaults, on one thread and with the run's seed; points that are still
running are told to it where it can be told. Needed is only what the chosen one imports (`players`).
"""

import importlib
import json
import logging
import os
import sys
import warnings

# Before the libraries start their threads.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[threads] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
sys.dont_write_bytecode = True
# Answers have standard output to themselves, whatever a library prints.
answers, sys.stdout = sys.stdout, sys.stderr

# The module in `players`, and the class.
OPTIMIZERS = {
    "optuna-gp": ("optuna", "Gp"),
    "optuna-tpe": ("optuna", "Tpe"),
    "ax": ("ax", "Ax"),
    "botorch": ("botorch", "BoTorch"),
    "egobox": ("egobox", "Egobox"),
    "hebo": ("hebo", "Hebo"),
    "cma": ("cma", "Cma"),
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in OPTIMIZERS:
        sys.exit(f"usage: peers.py {'|'.join(OPTIMIZERS)}")
    problem = json.loads(sys.stdin.readline())
    if problem["constraints"]:
        sys.exit(f"{sys.argv[1]} is not taught linear constraints here: leave {problem['play']} out")
    module, name = OPTIMIZERS[sys.argv[1]]
    optimizer = getattr(importlib.import_module(f"players.{module}"), name)(problem)
    for line in sys.stdin:
        said = json.loads(line)
        if "ask" in said:
            print(json.dumps({"points": optimizer.ask(said["ask"])}), file=answers, flush=True)
        else:
            optimizer.tell(said["tell"]["trial"], said["tell"]["value"])


main()
