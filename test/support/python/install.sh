#!/bin/sh
# Installs packages of PyPI into a virtual environment: install.sh FOLDER NAME==VERSION…
# With the pip of the system, if there is one, and without compiling: a pip of its own and modules that no run loads are two thirds of the processor time.
set -e
folder=$1
shift
mkdir -p "$(dirname "$folder")"
# Two tests may need it at once. A lock that a killed process has left is waited for as long as an installation takes.
seconds=0
until [ -e "$folder/installed" ] || mkdir "$folder.lock" 2> /dev/null || [ $seconds -ge 120 ]; do
  sleep 1
  seconds=$((seconds + 1))
done
[ -e "$folder/installed" ] && exit
trap 'rmdir "$folder.lock" 2> /dev/null || true' EXIT
if python3 -m pip --version > /dev/null 2>&1; then
  python3 -m venv --without-pip "$folder"
  python3 -m pip --python "$folder/bin/python" install --quiet --no-compile "$@"
else
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --no-compile "$@"
fi
touch "$folder/installed"
