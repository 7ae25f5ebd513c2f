#!/usr/bin/env bash
# A Slurm cluster of several emulated nodes on this computer, below one folder.
#
#   slurm.sh start FOLDER NODES     then every Slurm command needs SLURM_CONF=FOLDER/slurm.conf
#   slurm.sh stop FOLDER
set -euo pipefail

wait_until() {  # up to 20 s
  for _ in $(seq 200); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "slurm.sh: this never came true: $*" >&2
  return 1
}

free_ports() {  # so many, all different
  /usr/bin/python3 -c '
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))' "$1"
}

configure() {
  local folder=$1 nodes=$2 cores node
  local -a ports
  cores=$(nproc)
  read -r -a ports <<<"$(free_ports $((nodes + 1)))"
  mkdir -p "$folder"/{state,log,run,munge}
  chmod 755 "$folder/munge"
  for node in $(seq "$nodes"); do mkdir -p "$folder"/{spool,tmp}/n"$node"; done
  dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
  chmod 600 "$folder/munge/key"
  # Each node has a TmpFS of its own: the launcher's files would collide.
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
ReturnToService=2
JobRequeue=1
KillWait=5
MinJobAge=3600
SlurmctldPort=${ports[0]}
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
TmpFS=$folder/tmp/%n
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
NodeName=DEFAULT CPUs=$cores Boards=1 SocketsPerBoard=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
CONF
  for node in $(seq "$nodes"); do
    echo "NodeName=n$node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=${ports[$node]}" >>"$folder/slurm.conf"
  done
  echo 'PartitionName=work Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4' >>"$folder/slurm.conf"
}

start() {
  local folder=$1 nodes=$2 node
  configure "$folder" "$nodes"
  export SLURM_CONF=$folder/slurm.conf
  setsid munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged.log" \
    --seed-file="$folder/munge/seed" >"$folder/log/munged.out" 2>&1 </dev/null &
  wait_until test -S "$folder/munge/socket"
  setsid slurmctld -D >"$folder/log/slurmctld.out" 2>&1 </dev/null &
  wait_until sh -c 'scontrol ping | grep -q UP'
  for node in $(seq "$nodes"); do
    setsid slurmd -D -N "n$node" >"$folder/log/slurmd.n$node.out" 2>&1 </dev/null &
  done
  wait_until sh -c "[ \"\$(sinfo -h -t idle -o %D)\" = $nodes ]"
}

stop() {
  local folder=$1 file pid
  for file in "$folder"/run/slurmd.*.pid "$folder/run/slurmctld.pid" "$folder/run/munged.pid"; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    kill -TERM "$pid" 2>/dev/null || continue
    wait_until sh -c "! kill -0 $pid 2>/dev/null" || kill -KILL "$pid"
  done
}

"$@"
