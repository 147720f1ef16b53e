"""A real Slurm on this machine: a controller, a node without GPUs and one with two devices that stand for GPUs.

The second one has no network but that of the cluster: it lives in a network namespace, with a cable to this machine.
Needs root, and Debian's slurm-wlm and munge: `apt-get install -y --no-install-recommends slurm-wlm munge`.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.conftest import LIMIT_SECONDS, wait_for

ETC = Path("/etc/slurm")

CONFIG = """\
ClusterName=loop
SlurmctldHost={host}(10.213.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/run/m/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool/%n
SlurmctldPidFile={base}/run/slurmctld.pid
SlurmdPidFile={base}/run/slurmd.%n.pid
SlurmctldLogFile={base}/log/slurmctld.log
SlurmdLogFile={base}/log/slurmd.%n.log
SlurmctldPort=16817
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
MinJobAge=300
ReturnToService=2
SlurmdTimeout=20
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName=cpu1 NodeHostname={host} NodeAddr=10.213.0.1 Port=17001 CPUs=2 RealMemory=4000
NodeName=gpu1 NodeHostname={host} NodeAddr=10.213.0.2 Port=17002 CPUs=2 RealMemory=4000 Gres=gpu:fake:2
PartitionName=cpu Nodes=cpu1 Default=YES PriorityTier=1 GraceTime=30
PartitionName=gpu Nodes=gpu1 PriorityTier=1 GraceTime=30
PartitionName=short Nodes=cpu1 PriorityTier=1 MaxTime=30
PartitionName=accel Nodes=gpu1 PriorityTier=1 MaxTime=30
PartitionName=vip Nodes=cpu1 PriorityTier=1 AllowAccounts=physics
"""

#: Character devices: with regular files CUDA_VISIBLE_DEVICES stays unset.
GRES = "NodeName=gpu1 Name=gpu Type=fake File=/dev/null,/dev/zero\n"


#: The namespace of the node gpu1, and what makes its network: a cable to this machine, and nothing beyond.
_APART = "epochs-gpu1"
_CABLE = f"""
ip netns add {_APART}
ip link add epochs0 type veth peer name epochs1 netns {_APART}
ip addr add 10.213.0.1/30 dev epochs0
ip link set epochs0 up
ip -n {_APART} addr add 10.213.0.2/30 dev epochs1
ip -n {_APART} link set epochs1 up
ip -n {_APART} link set lo up
"""

#: Of a catalogue: a node of each partition, the second one as if it had a GPU.
MACHINES = """
node-cpu:
  label: CPU partition
  machine: {cores: 1}
  clusters: {slurm: {slurm_partition: cpu}}
node-gpu:
  label: GPU partition
  machine: {cores: 1}
  clusters: {slurm: {slurm_partition: gpu, gpu: 1, gpu_model: fake}}
"""

#: Its capitals are to be replaced.
STUDY = """
title: On two partitions
data: synthetic
workloads: [WORKLOAD]
hardware: [node-cpu, node-gpu]
frameworks: [jax]
modes: [tuned]
scale: {samples: SAMPLES, epochs: EPOCHS}
base: {hardware: node-cpu, framework: jax}
charts: [relative_time]
"""


def is_installed() -> bool:
    return os.geteuid() == 0 and all(shutil.which(name) for name in ("slurmctld", "slurmd", "munged", "sbatch", "ip"))


class Slurm:
    """A running Slurm below `base`."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._config = CONFIG.format(host=socket.gethostname(), base=base)

    def start(self) -> None:
        for name in ("run/m", "state", "spool", "log"):
            (self.base / name).mkdir(parents=True)
        shutil.chown(self.base / "run" / "m", "munge", "munge")
        (self.base / "slurm.conf").write_text(self._config)
        (self.base / "gres.conf").write_text(GRES)
        ETC.mkdir(exist_ok=True)
        for name in ("slurm.conf", "gres.conf"):
            # A job step strips SLURM_CONF from the environment: the srun in it looks here.
            (ETC / name).unlink(missing_ok=True)
            (ETC / name).symlink_to(self.base / name)
        run = self.base / "run" / "m"
        subprocess.run(
            ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged",
             "--key-file=/etc/munge/munge.key", f"--socket={run}/munge.socket", f"--pid-file={run}/munged.pid",
             f"--log-file={run}/munged.log", f"--seed-file={run}/munged.seed", "--num-threads=2"],
            check=True,
        )  # fmt: skip
        self._take_network_down()  # of a test that was killed
        for line in _CABLE.strip().splitlines():
            subprocess.run(line.split(), check=True)
        subprocess.run(["slurmctld", "-c"], check=True)
        for node in ("cpu1", "gpu1"):
            self._start_node(node)
        wait_for(lambda: self.states() == {"cpu1": "idle", "gpu1": "idle"})

    def stop(self) -> None:
        for file in (self.base / "run").rglob("*.pid"):
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)
        for name in ("slurm.conf", "gres.conf"):
            (ETC / name).unlink(missing_ok=True)
        self._take_network_down()

    @staticmethod
    def _take_network_down() -> None:
        """Remove the namespace and the cable, which stays for as long as a job of a test that failed runs there."""
        listed = subprocess.run(["ip", "netns", "pids", _APART], capture_output=True, text=True)
        for pid in listed.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        for command in (["ip", "netns", "delete", _APART], ["ip", "link", "delete", "epochs0"]):
            subprocess.run(command, check=False, stderr=subprocess.DEVNULL)

    @staticmethod
    def _start_node(node: str) -> None:
        apart = ["nsenter", f"--net=/run/netns/{_APART}"] if node == "gpu1" else []
        subprocess.run([*apart, "slurmd", "-N", node], check=True)

    def lose(self, node: str) -> None:
        """Let a node die, with all that runs on it."""
        pid = int((self.base / "run" / f"slurmd.{node}.pid").read_text())
        for step in subprocess.run(["pgrep", "-f", "slurmstepd"], capture_output=True, text=True).stdout.split():
            with suppress(psutil.NoSuchProcess):
                running = psutil.Process(int(step))
                for process in [running, *running.children(recursive=True)]:
                    process.kill()
        os.kill(pid, signal.SIGKILL)
        self.say("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")

    def bring_back(self, node: str) -> None:
        self._start_node(node)
        # It comes back by itself (ReturnToService) once it has registered.
        wait_for(lambda: not self.states()[node].startswith("down"))

    def states(self) -> dict[str, str]:
        """Return the state of each node."""
        lines = self.say("sinfo", "-N", "-h", "-o", "%N %T").splitlines()
        return {name: state.rstrip("*") for name, state in (line.split() for line in lines)}

    def jobs(self) -> list[tuple[str, str, str]]:
        """Return (id, state, partition) of the jobs that wait or run."""
        lines = self.say("squeue", "-h", "-o", "%i %T %P").splitlines()
        return [tuple(line.split()) for line in lines]  # type: ignore[misc]

    @staticmethod
    def say(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS).stdout


@contextmanager
def running(base: Path) -> Iterator[Slurm]:
    slurm = Slurm(base)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
