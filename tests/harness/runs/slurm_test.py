"""Runs a small suite through scripts/slurm.sh on a Slurm that the test starts: controller and node on this machine.

    slurm_test.py POSBENCH SLURM_SH

The merged report must be that of a single run. One task of the array is requeued while it runs. Exit code 77: skipped,
Slurm is not installed or does not start here.
"""

import atexit
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from run_files import arguments_of

posbench, script = (os.path.realpath(path) for path in sys.argv[1:3])
os.environ["PATH"] += ":/usr/sbin"
root = tempfile.mkdtemp(prefix="posbench-slurm-")
os.chmod(root, 0o755)
daemons = []


def path(*names):
    return os.path.join(root, *names)


def clean_up():
    for daemon in reversed(daemons):
        daemon.send_signal(signal.SIGTERM)
    for daemon in reversed(daemons):
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
    shutil.rmtree(root, ignore_errors=True)


atexit.register(clean_up)


def skip(reason):
    for name in ("munged", "slurmctld", "slurmd"):
        if os.path.exists(path(name + ".log")):
            with open(path(name + ".log"), encoding="utf-8", errors="replace") as log:
                print(f"--- {name}:", *log.readlines()[-5:], sep="\n")
    print("skipped:", reason)
    sys.exit(77)


def start(name, *arguments):
    with open(path(name + ".log"), "w", encoding="utf-8") as log:
        daemons.append(subprocess.Popen([name, *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL))


def output(*command):
    """Returns what a command prints, or None if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def wait_for(seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.2)
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_slurm():
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program):
            skip(f"no {program} (Debian: slurm-wlm, munge)")
    for folder in ("state", "spool", "munge"):
        os.mkdir(path(folder), 0o755)
    with open(path("munge", "key"), "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as key:
        key.write(os.urandom(128))
    files = [f"--{name}-file={path('munge', name)}" for name in ("key", "pid", "seed")]
    start("munged", "--foreground", f"--socket={path('munge', 'socket')}", *files)
    if not wait_for(10, lambda: os.path.exists(path("munge", "socket"))):
        skip("munged does not start")
    host, user = socket.gethostname().split(".")[0], output("id", "-un")
    with open(path("slurm.conf"), "w", encoding="utf-8") as conf:
        conf.write(f"""
ClusterName=posbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={path("munge", "socket")}
StateSaveLocation={path("state")}
SlurmdSpoolDir={path("spool")}
SlurmctldPidFile={path("slurmctld.pid")}
SlurmdPidFile={path("slurmd.pid")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
    if not os.path.exists("/sys/fs/cgroup/cgroup.controllers") and not os.path.exists("/sys/fs/cgroup/freezer"):
        # slurmd does not start where it cannot detect the version of cgroups. It needs none with the settings above.
        version = int(output("slurmd", "-V").split()[1].split(".")[0])  # "slurm-wlm 22.05.8"
        with open(path("cgroup.conf"), "w", encoding="utf-8") as conf:
            conf.write(f"CgroupPlugin={'disabled' if version >= 23 else 'cgroup/v1'}\n")
    os.environ["SLURM_CONF"] = path("slurm.conf")
    start("slurmctld", "-D")
    start("slurmd", "-D")
    if not wait_for(30, lambda: output("sinfo", "-h", "-o", "%t") in ("idle", "mix", "alloc")):
        skip("Slurm does not start: sinfo says " + repr(output("sinfo")))


def report(directory):
    with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
        content = json.load(file)
    del content["context"], content["timing"], content["crc32"]
    return json.dumps(content)


def show_logs(directory):
    for name in sorted(os.listdir(os.path.join(directory, "logs"))):
        with open(os.path.join(directory, "logs", name), encoding="utf-8") as log:
            print(f"--- {name}:\n{log.read()}")


def main():
    start_slurm()
    arguments = arguments_of(
        "--profile smoke -t parity_check,even_pairs -e none,cope -s 2 --set training.steps=20000 --checkpoint-every 0.1"
    )
    subprocess.run([posbench, "run", *arguments, "-q", "-o", path("single")], check=True, stdout=subprocess.DEVNULL)
    environment = {**os.environ, "POSBENCH": posbench}
    said = subprocess.run(
        [script, "3", path("run"), *arguments], check=True, capture_output=True, text=True, env=environment
    ).stdout.strip()
    print(said)
    array, merge = said.split("array job ")[1].split(";")[0].split(", merge job ")

    seen = {}  # the state in which each job was last seen
    checkpoints = path("run", "shards", "1", "checkpoints", "*.safetensors")

    def update():
        for line in (output("squeue", "-h", "-r", "-o", "%i %T") or "").splitlines():
            job, state = line.split()
            seen[job] = state
        return seen

    if not wait_for(60, lambda: update() and glob.glob(checkpoints)):
        show_logs(path("run"))
        print("failed: the first task saved no checkpoint")
        return 1
    subprocess.run(["scontrol", "requeue", f"{array}_1"], check=True)  # as a preemption does
    # A requeued job waits for two minutes unless its start time is changed.
    done = wait_for(
        900,
        lambda: (
            update()
            and (
                subprocess.run(
                    ["scontrol", "update", f"JobId={array}_1", "StartTime=now"], capture_output=True, check=False
                )
                and output("squeue", "-h", "-j", f"{array},{merge}") == ""
            )
        ),
    )
    print("jobs seen:", *sorted(seen))
    show_logs(path("run"))
    expected = {f"{array}_{task}" for task in (1, 2, 3)} | {merge}
    if not done or set(seen) != expected:
        print(f"failed: expected the jobs {sorted(expected)}, each through to its end: {seen}")
        return 1
    with open(path("run", "logs", "1.log"), encoding="utf-8") as log:
        if "interrupted; " not in log.read():
            print("failed: the first task was not interrupted")
            return 1
    if report(path("run", "merged")) != report(path("single")):
        print("failed: the merged report is not that of a single run")
        return 1
    print("the merged report is that of a single run")
    return 0


sys.exit(main())
