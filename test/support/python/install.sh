#!/bin/sh
# Installs packages of PyPI into a virtual environment: install.sh FOLDER NAME==VERSION…
# With the pip of the system, if there is one, and without compiling: a pip of its own and modules that no run loads are two thirds of the processor time.
set -e
folder=$1
shift
[ -e "$folder/installed" ] && exit
if python3 -m pip --version > /dev/null 2>&1; then
  python3 -m venv --without-pip "$folder"
  python3 -m pip --python "$folder/bin/python" install --quiet --no-compile "$@"
else
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --no-compile "$@"
fi
touch "$folder/installed"
