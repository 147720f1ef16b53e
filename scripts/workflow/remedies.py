"""What the words of a refusal mean, and what to do: of Slurm, Google Batch, Kubernetes and the machine. Pure."""

import re
from dataclasses import dataclass

_MACHINE = "the machine's entry in config/hardware.local.yaml"


@dataclass(frozen=True)
class Remedy:
    """Why something was refused, and what to do, each a clause; `{quota}` becomes the name of the quota."""

    pattern: str
    cause: str
    to_do: str


#: The first whose pattern is in the words counts: what names its thing stands before what is general.
REMEDIES = (
    # Google
    Remedy(
        r"API has not been used in project|SERVICE_DISABLED",
        "the API is not enabled in this project",
        "gcloud services enable batch.googleapis.com compute.googleapis.com artifactregistry.googleapis.com "
        "logging.googleapis.com; wait some minutes, and repeat the call",
    ),
    Remedy(
        r"requires billing|billing (?:account|to be enabled)|BILLING_DISABLED",
        "the project has no billing account",
        "link one: https://console.cloud.google.com/billing/linkedaccount",
    ),
    Remedy(
        r"Kubernetes: no login",
        "there is no login to a cluster",
        "gcloud container clusters get-credentials CLUSTER --location LOCATION, or what your provider has for it; "
        "kubectl config get-contexts lists what there is",
    ),
    Remedy(
        r"no login|DefaultCredentialsError|default credentials were not found|[Rr]eauthenticat|invalid_grant|"
        r"UNAUTHENTICATED|could not be refreshed|ACCESS_TOKEN_EXPIRED|CREDENTIALS_MISSING|ACCOUNT_STATE_INVALID",
        "nobody is logged in",
        "gcloud auth application-default login",
    ),
    Remedy(
        r"CONSUMER_INVALID|RESOURCE_PROJECT_INVALID|CONSUMER_SUSPENDED|USER_PROJECT_DENIED",
        "there is no such project, it is suspended, or not yours",
        "gcloud projects list shows yours: set SNAKEMAKE_GCEBATCH_PROJECT",
    ),
    Remedy(
        r"vmExternalIpAccess|no_external_ip_address",
        "your organisation lets no VM have an address of its own",
        "--gcebatch-no-external-ip, in a subnetwork with Private Google Access",
    ),
    Remedy(
        r"Constraint constraints/|ORG_POLICY_VIOLATED|LOCATION_POLICY_VIOLATED|"
        r"SECURITY_POLICY_VIOLATED|ORG_RESTRICTION",
        "a policy of your organisation forbids it",
        "its words say which: let its administrator exempt the project, or take another project or region",
    ),
    Remedy(
        r"act as the specified service account|iam\.serviceAccounts\.actAs",
        "you may not use the service account of the VMs",
        "let a project's owner give you roles/iam.serviceAccountUser on it (docs/clusters.md, Google Batch)",
    ),
    Remedy(
        r"agent reporting|batch\.agentReporter",
        "the VM has started, and its account may not report to Batch",
        "give the VMs' account roles/batch.agentReporter (docs/clusters.md, Google Batch), and set "
        "SNAKEMAKE_GCEBATCH_SERVICE_ACCOUNT to it",
    ),
    Remedy(
        r"[Qq]uota:? '?[A-Z][A-Z0-9_]{3,}|CODE_GCE_QUOTA_EXCEEDED|inadequate quotas|RESOURCE_QUOTA_EXCEEDED",
        "the project's quota does not allow this machine",
        "ask for more{quota}: https://console.cloud.google.com/iam-admin/quotas, filter by its name, edit, and "
        "send the form; GPUs need GPUS_ALL_REGIONS too; then `-R` with the run's path tries it again",
    ),
    Remedy(
        r"ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources|[Ss]tockout|STOCKOUT|no_capacity|no VM within",
        "no such machine is free there now",
        "repeat the call later (`-R` with the run's path), or name other zones or another region (`zones:` of the "
        "machine, SNAKEMAKE_GCEBATCH_REGION), or take provisioning_model: FLEX_START",
    ),
    Remedy(
        r"bucket does not exist|NoSuchBucket|notFound.*bucket",
        "there is no such bucket",
        "gcloud storage buckets create gs://BUCKET --location REGION, and EPOCHS_BUCKET=BUCKET/FOLDER",
    ),
    # Images and containers, of Google Batch and Kubernetes alike
    Remedy(
        r"ErrImage\w+|ImagePullBackOff|InvalidImageName|manifest (?:for \S+ not found|unknown)|pull access denied|"
        r"artifactregistry\.repositories\.downloadArtifacts|failed to pull|[Uu]nable to pull|repository .* not found",
        "the image cannot be pulled",
        "build and push it (envs/images.sh NAME), and give the account of the VMs or nodes "
        "roles/artifactregistry.reader on its repository (docs/clusters.md, Google Batch)",
    ),
    Remedy(
        r"could not select device driver|nvidia-container|libnvidia-ml\.so|NVIDIA driver",
        "the container finds no driver of NVIDIA",
        "name the card as gpu and gpu_model of the machine, so that its driver is installed; a container of one's own "
        "Slurm needs --nv (docs/clusters.md)",
    ),
    Remedy(
        r"OCI runtime|exec format error|RunContainerError|CreateContainer(?:Config)?Error|StartError|"
        r"ContainerCannotRun|CrashLoopBackOff|exit code 12[5678]\b|docker: Error response",
        "the container does not start",
        "take an image that envs/images.sh has built, for the machine's own architecture: the log says what it lacks",
    ),
    # Kubernetes
    Remedy(
        r"Kubernetes.*: its API does not answer",
        "the cluster does not answer",
        "kubectl cluster-info says whether it is there; kubectl config use-context NAME takes another one",
    ),
    Remedy(
        r"Kubernetes.*\bUnauthorized|system:anonymous",
        "the cluster does not know this login, or it has ended",
        "log in again: gcloud container clusters get-credentials CLUSTER --location LOCATION, or what your provider "
        "has for it",
    ),
    Remedy(
        r'namespaces "\S+" not found',
        "there is no such namespace",
        "kubectl create namespace NAME, or another one as kubernetes-namespace in profiles/k8s/config.yaml",
    ),
    Remedy(
        r"error looking up service account|serviceaccount \S+ not found",
        "there is no such service account in the namespace",
        "kubectl create serviceaccount NAME, or another one as kubernetes-service-account-name in "
        "profiles/k8s/config.yaml",
    ),
    Remedy(
        r"Insufficient [\w./-]+|didn't match Pod's node affinity|untolerated taint|Unschedulable|"
        r"FailedScheduling",
        "no node of the cluster has what the job asks for",
        "kubectl describe nodes shows what they have: lower mem_mb, disk_mb or gpu of the machine, or add a node pool "
        "of its machine_type; the plugin tolerates the taint nvidia.com/gpu=present:NoSchedule, and no other",
    ),
    Remedy(
        r"failed quota: .*must specify",
        "the namespace's quota wants limits",
        "set scale: 0 of the machine (docs/clusters.md, Another cluster)",
    ),
    Remedy(
        r"exceeded quota",
        "the namespace's quota does not allow the pod",
        "kubectl describe resourcequota shows it; have it raised, or lower --jobs",
    ),
    Remedy(
        r"violates PodSecurity|admission webhook \S+ denied",
        "a rule of the cluster forbids such a pod",
        "its words say which: ask who runs the cluster, or take another namespace (kubernetes-namespace in "
        "profiles/k8s/config.yaml)",
    ),
    Remedy(
        r"is forbidden: User|cannot create resource",
        "your account may not do in this namespace what its jobs need",
        "kubectl auth can-i --list shows what it may; let an administrator give you the role that docs/clusters.md "
        "(Another cluster) has",
    ),
    Remedy(
        r"OOMKilled",
        "it took more memory than it asked for",
        "raise mem_mb of the machine's entry, or in default-resources of the profile; or take a smaller batch",
    ),
    Remedy(
        r"Evicted|low on resource|exceeds the total limit of containers",
        "its node ran out of disk or memory, or it took more disk than it asked for",
        "raise disk_mb or mem_mb of the machine's entry, or in default-resources of the profile",
    ),
    # Slurm
    Remedy(
        r"Invalid account|account \S+ appears to be invalid|AccountNotAllowed|Job's account not|InvalidAccount",
        "the account is not one of yours, or may not use this partition",
        f"set slurm_account in {_MACHINE}; yours: sacctmgr show assoc user=$USER format=account,partition,qos; who may "
        "use a partition: scontrol show partition NAME (AllowAccounts)",
    ),
    Remedy(
        r"Invalid qos|InvalidQOS|QOSNotAllowed|Job's QOS not",
        "this QOS does not exist, or your account or the partition does not allow it",
        f"set qos in {_MACHINE}; yours: sacctmgr show assoc user=$USER format=account,partition,qos",
    ),
    Remedy(
        r"Job violates accounting/QOS policy|Assoc\w*Limit|QOS\w*Limit|Assoc(?:Grp|Max)\w+|QOS(?:Grp|Max)\w+",
        "a limit of your account or QOS does not allow it",
        "sacctmgr show qos and sacctmgr show assoc user=$USER show it: fewer jobs at a time (--jobs N), or less time "
        "(runtime) or memory (mem_mb) of the machine",
    ),
    Remedy(
        r"Requested time limit is invalid|PartitionTimeLimit|QOSMaxWall",
        "the job asks for more time than the partition allows",
        f"set runtime (minutes) in {_MACHINE}, or max_run_minutes of the study",
    ),
    Remedy(
        r"[Ii]nvalid generic resource|Invalid GRES|InvalidGRES",
        "the partition has no such GPUs",
        f"set gpu and gpu_model, or gres, in {_MACHINE}; what nodes have: sinfo -o '%P %G'",
    ),
    Remedy(
        r"node configuration is not available|Memory (?:required|specification)|Node count specification|"
        r"BadConstraints|PartitionNodeLimit|PartitionConfig|More processors requested|CPU count per|Invalid feature",
        "no node of the partition is as large as the job asks for",
        f"lower cores, mem_mb or gpu in {_MACHINE}, or name another slurm_partition; what nodes have: "
        "sinfo -o '%P %c %m %G %f'",
    ),
    Remedy(
        r"[Ii]nvalid partition",
        "there is no such partition",
        f"set slurm_partition in {_MACHINE}; those that there are: sinfo -s",
    ),
    Remedy(
        r"DOWN, DRAINED|ReqNodeNotAvail|NodeDown|PartitionDown|PartitionInactive|Required partition not available",
        "the nodes that it could have are drained or down, or the partition is",
        f"sinfo -R says why, and until when: wait, or name another slurm_partition in {_MACHINE}",
    ),
    Remedy(
        r"JobHeld\w+|held state",
        "somebody holds the job",
        "scontrol release JOB lets it go; an administrator's hold only he can end",
    ),
    Remedy(
        r"Unable to contact slurm controller|slurm_load_\w+ error",
        "Slurm's controller does not answer",
        "repeat the call when `sinfo` answers",
    ),
    # The machine that trains
    Remedy(
        r"module: (?:command )?not found|Unable to locate a modulefile|Lmod has detected|Module ERROR",
        "an environment module cannot be loaded",
        f"set modules in {_MACHINE}; those that there are: module avail",
    ),
    Remedy(
        r"InvalidCxxCompiler|No working C\+\+ compiler|Failed to find C compiler|(?:gcc|g\+\+): (?:command )?not found",
        "there is no compiler where it trains",
        "install g++ there, load it (modules: gcc), or build the image anew (envs/images.sh)",
    ),
    Remedy(
        r"is not installed; see envs/|ModuleNotFoundError|ImportError|No module named|cannot import name|"
        r"Expecting Snakemake version|PackageNotFoundError|VersionConflict|Invalid choice .*executor",
        "the packages there are not those of the locks",
        "set up anew: make slurm (with its FRAMEWORKS) on Slurm, envs/images.sh for images, make report here",
    ),
    Remedy(
        r"No space left on device|Disk quota exceeded",
        "the disk is full",
        "free some, or set disk_mb of the machine",
    ),
    # Whatever else Google refuses
    Remedy(
        r"[Pp]ermission '?[\w.]+'?(?: denied| on resource)|PERMISSION_DENIED|ACCESS_TOKEN_SCOPE_INSUFFICIENT|"
        r"does not have \S+ access|[Pp]ermission denied on|\b403\b",
        "your account, or that of the VMs, lacks a role",
        "docs/clusters.md (Google Batch) lists the roles of both: yours, and those of the VMs' account",
    ),
)


_QUOTA = re.compile(r"[Qq]uota:? '?([A-Z][A-Z0-9_]{3,})")


def find(words: str) -> tuple[str, str] | None:
    """Return the cause and what to do of what was said; None for words that nobody here knows."""
    quota = _QUOTA.search(words)
    for remedy in REMEDIES:
        if re.search(remedy.pattern, words):
            return remedy.cause, remedy.to_do.replace("{quota}", f" of {quota[1]}" if quota else "")
    return None
