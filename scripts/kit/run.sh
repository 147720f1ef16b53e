#!/usr/bin/env bash
# Trains a study's most informative runs on this machine: bash kit/run.sh --minutes 9
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "error: $python: not found; name a Python: PYTHON=/path/to/python3 bash kit/run.sh" >&2; exit 2; }
exec "$python" "$kit/scripts/run_kit.py" "$@"
