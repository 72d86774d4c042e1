"""GStreamer's RTSP server with a stream per pipeline.

Usage: gstreamer.py PORT NAME=PIPELINE... Prints a line when it listens on 127.0.0.1. Ends when its stdin closes.
"""

import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=sys.argv[1])
for stream in sys.argv[2:]:
    name, pipeline = stream.split("=", 1)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {pipeline} )")
    factory.set_shared(True)
    server.get_mount_points().add_factory(f"/{name}", factory)
server.attach(None)
loop = GLib.MainLoop()
threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
print("ready", flush=True)
loop.run()
