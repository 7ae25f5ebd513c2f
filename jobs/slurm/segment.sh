#!/usr/bin/env bash
# What batch scripts share: a segment of a run, which is requeued until the run is over.

# run_segment OUTPUT COMMAND...: runs the command, with --resume if there is a checkpoint beside the output.
#
# SIGUSR1 to the script, which `--signal=B:USR1@120` sends before the limit of time, ends the step with a checkpoint, and
# the job is requeued: if the step's status is 75, or if it left a new checkpoint (mpirun returns 1, and so does a step
# that was killed).  After scancel, which sends SIGTERM, it is not.  Returns the step's status.
run_segment() {
  local output=$1 checkpoint=${1%.h5}.ckpt status=0 cancelled=no before
  local -a command=("${@:2}")
  before=$(age_of "$checkpoint")
  if [ -n "$before" ] && [ -e "$output" ]; then command+=(--resume "$checkpoint"); fi
  "${command[@]}" &
  trap 'scancel --signal=TERM "$SLURM_JOB_ID"' USR1
  trap 'cancelled=yes' TERM
  # A signal ends `wait`, not the step.
  while kill -0 $! 2>/dev/null; do
    status=0
    wait $! || status=$?
  done
  # 4: simulation.stop_at came before some tenants were done, which is an end.
  if [ "$cancelled" = no ] && [ "$status" -ne 0 ] && [ "$status" -ne 4 ] &&
    { [ "$status" -eq 75 ] || [ "$(age_of "$checkpoint")" != "$before" ]; }; then
    echo "$checkpoint goes on: the job is requeued"
    scontrol requeue "$SLURM_JOB_ID"
  fi
  return "$status"
}

# Changes with each checkpoint; empty if there is none.
age_of() {
  stat -c %i.%y "$1" 2>/dev/null || true
}
