#!/bin/sh
# System packages the tests need, one "command package" a line of scripts/system_packages.txt; installs what is missing.
# As root with apt-get it installs them; elsewhere it names what to install, and tests that need it skip with that reason.
set -eu
missing=""
while read -r command package; do
    case "$command" in "" | "#"*) continue ;; esac
    command -v "$command" >/dev/null 2>&1 || missing="$missing $package"
done <"$(dirname "$0")/system_packages.txt"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086 - a list of names
    apt-get install -y -qq --no-install-recommends $missing
else
    echo "Some tests will be skipped; they need these system packages:$missing" >&2
fi
