import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ensureFfmpeg } from '../../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../../cli/terminal.ts';

/** The camera of the RTSP tests that is not ours: GStreamer's RTSP server. */
const gstreamer = [
  'python3-gi',
  'gir1.2-gst-rtsp-server-1.0',
  'gstreamer1.0-plugins-base',
  'gstreamer1.0-plugins-good',
  'gstreamer1.0-plugins-bad',
  'gstreamer1.0-plugins-ugly',
];

/** Runs once before all tests: brings Debian's packages where they are missing, or says how. */
export async function setup(): Promise<void> {
  await ensureFfmpeg(process.env['WATCHPOST_FFMPEG'] ?? '', process.env, openTerminal(process.env));
  if (hasGstreamer()) return;
  const command = `apt-get install -y --no-install-recommends ${gstreamer.join(' ')}`;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`The RTSP tests need GStreamer's RTSP server. On Debian or Ubuntu: ${command}`);
  }
  process.stderr.write(`GStreamer's RTSP server is missing; installing it with "${command}" …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('/usr/bin/apt-get', ['-q', 'update'], { stdio: ['ignore', 'ignore', 'inherit'], env });
  execFileSync('/usr/bin/apt-get', command.split(' ').slice(1), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
}

function hasGstreamer(): boolean {
  try {
    execFileSync(
      '/usr/bin/python3',
      [
        '-c',
        'import gi; gi.require_version("GstRtspServer", "1.0"); from gi.repository import Gst, GstRtspServer; Gst.init(None); assert Gst.ElementFactory.find("x264enc")',
      ],
      { stdio: 'ignore' },
    );
    return true;
  } catch {
    return false;
  }
}
