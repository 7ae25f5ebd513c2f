#!/usr/bin/env bash
# Builds the manual as HTML: build/manual/index.html.  A warning of Sphinx, such as a link that leads nowhere, is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs/install_packages.sh manual
/usr/bin/python3 -m sphinx -E -a -q -W --keep-going -n -b html -d build/manual/.doctrees docs build/manual
echo "manual: build/manual/index.html"
