"""Live RTSP server with GStreamer, a third-party implementation to test against.

Prints one JSON line {"url": ..., "flips_at": epoch seconds or null} when it listens on 127.0.0.1. Ends when its stdin closes.
"""

import argparse
import json
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

options = argparse.ArgumentParser()
options.add_argument("--path", default="/live")
options.add_argument("--auth", choices=["none", "basic", "digest"], default="none")
options.add_argument("--user", default="viewer")
options.add_argument("--password", default="secret")
options.add_argument("--codec", choices=["h264", "h265"], default="h264")
options.add_argument("--audio", action="store_true")
options.add_argument("--udp-only", action="store_true")
options.add_argument("--key-frame-every", type=int, default=3, help="frames between key frames, at 10 per second")
options.add_argument("--red-after", type=float, default=None, help="seconds until the video turns from blue to red")
settings = options.parse_args()

Gst.init(None)

ENCODERS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max={key} ! rtph264pay name=pay0 pt=96 config-interval=-1",
    "h265": "x265enc tune=zerolatency speed-preset=ultrafast key-int-max={key} ! rtph265pay name=pay0 pt=96 config-interval=-1",
}
PICTURE = "video/x-raw,format=I420,width=320,height=180,framerate=10/1"
BLUE, RED = 0xFF0000FF, 0xFFFF0000


def launch_line():
    video = ENCODERS[settings.codec].format(key=settings.key_frame_every)
    line = f"videotestsrc name=picture is-live=true pattern=solid-color foreground-color={BLUE} ! {PICTURE} ! {video}"
    if settings.audio:
        line += " audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 pt=8"
    return f"( {line} )"


def turn_red(_factory, media):
    if settings.red_after is None:
        return
    source = media.get_element().get_by_name("picture")
    delay = max(0, int((flips_at - time.time()) * 1000))
    GLib.timeout_add(delay, lambda: source.set_property("foreground-color", RED))


def authenticated(server, factory):
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    if settings.auth == "basic":
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC)
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(settings.user, settings.password), token)
    else:
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        auth.add_digest(settings.user, settings.password, token)
    server.set_auth(auth)
    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("viewer", "media.factory.access", True)
    permissions.add_permission_for_role("viewer", "media.factory.construct", True)
    factory.set_permissions(permissions)


flips_at = None if settings.red_after is None else time.time() + settings.red_after
loop = GLib.MainLoop()
server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(launch_line())
factory.set_shared(True)
factory.connect("media-configure", turn_red)
if settings.udp_only:
    factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
if settings.auth != "none":
    authenticated(server, factory)
server.get_mount_points().add_factory(settings.path, factory)
server.attach(None)


def end_with_stdin():
    sys.stdin.read()
    loop.quit()


threading.Thread(target=end_with_stdin, daemon=True).start()
url = f"rtsp://127.0.0.1:{server.get_bound_port()}{settings.path}"
print(json.dumps({"url": url, "flips_at": flips_at}), flush=True)
loop.run()
