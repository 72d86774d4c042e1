import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ensureFfmpeg } from '../../../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../../../cli/terminal.ts';
import { chromiumPath } from './chromium.ts';

/** Packages of the third-party camera of the RTSP tests: GStreamer's RTSP server. */
const gstreamer = [
  'python3-gi',
  'gir1.2-gst-rtsp-server-1.0',
  'gstreamer1.0-plugins-base',
  'gstreamer1.0-plugins-good',
  'gstreamer1.0-plugins-bad',
  'gstreamer1.0-plugins-ugly',
];

/** Packages of the browser of the console tests, with a font for screenshots. */
const browser = ['chromium-headless-shell', 'fonts-inter'];

/** Environment variable that is set once the packages are known to be there: each lane calls `setup`. */
const packagesFound = 'WATCHPOST_TEST_PACKAGES';

/**
 * Installs missing Debian packages before the tests of a lane that needs them. Throws with the command if it cannot.
 */
export async function setup(): Promise<void> {
  if (process.env[packagesFound]) return;
  await ensureFfmpeg(process.env['WATCHPOST_FFMPEG'] ?? '', process.env, openTerminal(process.env));
  install([
    ...(hasGstreamer() ? [] : [{ name: "GStreamer's RTSP server", packages: gstreamer }]),
    ...(existsSync(chromiumPath()) ? [] : [{ name: 'Chromium', packages: browser }]),
  ]);
  process.env[packagesFound] = 'true';
}

function install(missing: { name: string; packages: string[] }[]): void {
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(' and ');
  const command = `apt-get install -y --no-install-recommends ${missing.flatMap(({ packages }) => packages).join(' ')}`;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`The tests require ${names}. On Debian or Ubuntu: ${command}`);
  }
  process.stderr.write(`Missing: ${names}. Installing with "${command}" …
`);
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
