#!/usr/bin/env bash
# Runs a suite on a Slurm cluster: a job array with one task for each shard, and a job that merges them after the last.
#
#   scripts/slurm.sh SHARDS DIR [arguments of posbench run...]
#   scripts/slurm.sh 16 runs/standard --profile standard -s 5
#
# Without --profile and --config it runs the profile quick. All nodes must have access to DIR. A task that Slurm requeues
# continues where it was, and so does the whole suite if the same command is given again. The report is DIR/merged/report.json. Other options of sbatch are set by its
# variables (SBATCH_PARTITION, SBATCH_TIMELIMIT, SBATCH_ACCOUNT, ...); POSBENCH_CPUS is the number of cores of each
# task (1), and POSBENCH_THREADS that of each experiment (1). POSBENCH is the program; the default is that of the build
# folder or of the installation of this script, or else `posbench` on the PATH.
set -euo pipefail

case "${1:-}" in
  --shard) # in a task of the array
    program=$2 shards=$3 directory=$4
    shift 4
    cpus=${SLURM_CPUS_PER_TASK:-1} threads=${POSBENCH_THREADS:-1}
    jobs=$((cpus < threads ? 1 : cpus / threads))
    exec "$program" run "$@" --shard "$SLURM_ARRAY_TASK_ID/$shards" -j "$jobs" --threads "$threads" \
      -o "$directory/shards/$SLURM_ARRAY_TASK_ID" --resume
    ;;
  --merge) # in the job after it
    program=$2 directory=$3
    exec "$program" merge "$directory"/shards/* -o "$directory/merged" --force
    ;;
esac

if [[ ! "${1:-}" =~ ^[1-9][0-9]*$ || -z "${2:-}" ]]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
for variable in POSBENCH_CPUS POSBENCH_THREADS; do
  if [[ ! "${!variable:-1}" =~ ^[1-9][0-9]*$ ]]; then
    echo "slurm.sh: $variable is '${!variable}', expected a number of cores" >&2
    exit 2
  fi
done
shards=$1 directory=$2
shift 2
has_profile=
for argument in "$@"; do
  case $argument in --profile | --profile=* | --config | --config=*) has_profile=1 ;; esac
done
[ -n "$has_profile" ] || set -- --profile quick "$@" # without a profile --resume would only continue a run
script=$(realpath "$0")
here=$(dirname "$script")
program=${POSBENCH:-}
for candidate in "$here/../build/release/posbench" "$here/../../bin/posbench" "$(command -v posbench || true)"; do
  [ -n "$program" ] || [ ! -x "$candidate" ] || program=$candidate
done
if [ ! -x "$program" ]; then
  echo "slurm.sh: the program '$program' does not exist; build it (scripts/quickstart.sh), or set POSBENCH to its path" >&2
  exit 2
fi
program=$(realpath "$program")
mkdir -p "$directory/shards" "$directory/logs"
directory=$(realpath "$directory")

"$program" run "$@" --show-config >/dev/null # reports an error here, not in every log
# The signal comes a minute before the time limit, so that posbench can save unfinished experiments.
array=$(sbatch --parsable --job-name=posbench --array="1-$shards" --cpus-per-task="${POSBENCH_CPUS:-1}" --requeue \
  --open-mode=append --signal=B:TERM@60 --output="$directory/logs/%a.log" \
  "$script" --shard "$program" "$shards" "$directory" "$@")
merge=$(sbatch --parsable --job-name=posbench-merge --dependency="afterany:$array" --requeue --open-mode=append \
  --output="$directory/logs/merge.log" "$script" --merge "$program" "$directory")
echo "array job $array, merge job $merge; logs in $directory/logs, report in $directory/merged/report.json"
