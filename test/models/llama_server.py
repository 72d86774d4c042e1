"""Runs llama.cpp's own server from the wheel `xllamacpp` until its input ends.

    python llama_server.py OPTIONS     a JSON object: model, projector (optional), context, slots

Prints its URL as one line.
"""

import json
import sys

import xllamacpp

options = json.loads(sys.argv[1])
params = xllamacpp.CommonParams()
params.model.path = options["model"]
params.n_ctx = options["context"]
params.n_parallel = options["slots"]
params.cpuparams.n_threads = 1
params.port = 0
if options.get("projector"):
    params.mmproj.path = options["projector"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
