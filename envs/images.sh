#!/usr/bin/env bash
# Builds the images of the frameworks by Cloud Build, and writes their digests to envs/images.yaml, where the profiles
# gce-cpu and gce-gpu find them.
#   EPOCHS_IMAGES=us-central1-docker.pkg.dev/PROJECT/REPOSITORY envs/images.sh [tensorflow-cpu jax-cpu ...]
set -euo pipefail
: "${EPOCHS_IMAGES:?is not set: the repository for the images, such as us-central1-docker.pkg.dev/PROJECT/REPOSITORY}"
cd "$(dirname "$0")/.."
names=("$@")
((${#names[@]})) || names=({tensorflow,jax,torch}-{cpu,gpu})
digests=envs/images.yaml
for name in "${names[@]}"; do
  image=$EPOCHS_IMAGES/epochs-$name
  gcloud builds submit --quiet --config envs/cloudbuild.yaml \
    --substitutions "_IMAGE=$image,_LOCKS=workflow gce ${name%-cpu}" .
  digest=$(gcloud artifacts docker images describe "$image:latest" --format 'value(image_summary.digest)')
  touch "$digests"
  { grep -v "^$name:" "$digests" || true; echo "$name: $image@$digest"; } > "$digests.new"
  mv "$digests.new" "$digests"
done
