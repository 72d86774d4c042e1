#!/bin/sh
# Installs a package of PyPI into a virtual environment: install.sh FOLDER NAME==VERSION
# With the pip of the system, if there is one, and without compiling: a pip of its own and modules that no run loads are two thirds of the processor time.
set -e
[ -e "$1/installed" ] && exit
if python3 -m pip --version > /dev/null 2>&1; then
  python3 -m venv --without-pip "$1"
  python3 -m pip --python "$1/bin/python" install --quiet --no-compile "$2"
else
  python3 -m venv "$1"
  "$1/bin/python" -m pip install --quiet --no-compile "$2"
fi
touch "$1/installed"
