import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cases, type Case } from './cases.ts';
import { installDebian, installGo, installVlc, UnavailableError } from './install.ts';
import {
  nothing,
  ports,
  publish,
  shared,
  startProcess,
  stop,
  type OpenServer,
  type Stream,
} from './processes.ts';

/** Servers of single pictures, Motion JPEG and MPEG-TS over HTTP. */

const loopback = '127.0.0.1';
const snapshot = 'JPEG';

function firstCase(): Case {
  const [each] = cases;
  if (each === undefined) throw new UnavailableError('There is no case');
  return each;
}

/** Places of the go2rtc that several servers start, each for itself. */
const users = ['web', 'motion', 'onvif-server', 'onvif'] as const;

/** Starts go2rtc with one camera, which an encoder publishes to it. */
export async function startOwnGo2rtc(folder: string, user: (typeof users)[number], host = loopback) {
  const program = await installGo('go2rtc', 'github.com/AlexxIT/go2rtc', 'v1.9.9');
  const rtsp = ports.ownGo2rtc + users.indexOf(user);
  const http = ports.ownGo2rtcHttp + users.indexOf(user);
  const config = join(folder, `go2rtc-${user}.yaml`);
  const listen = `api: {listen: ":${http}"}\nrtsp: {listen: ":${rtsp}"}\nwebrtc: {listen: ""}\nsrtp: {listen: ""}\n`;
  writeFileSync(config, `${listen}streams:\n  camera: ""\n  jpeg: ffmpeg:camera#video=mjpeg\n`);
  const server = await startProcess(program, ['-config', config], http);
  const url = `rtsp://${host}:${rtsp}/camera`;
  const web = `http://${host}:${http}`;
  const start = shared(async () =>
    publish(firstCase(), `-f rtsp -rtsp_transport tcp rtsp://${loopback}:${rtsp}/camera`),
  );
  return { url, web, http, start, close: () => stop(server) };
}

/** Web outputs of go2rtc. */
export async function openGo2rtcWeb(folder: string): Promise<OpenServer> {
  const { web, start, close } = await startOwnGo2rtc(folder, 'web');
  const common = { hasClock: true, start };
  const streams = [
    { ...common, name: snapshot, url: `${web}/api/frame.jpeg?src=camera`, withoutClips: true },
    { ...common, name: 'Motion JPEG', url: `${web}/api/stream.mjpeg?src=jpeg` },
    { ...common, name: 'MPEG-TS', url: `${web}/api/stream.ts?src=camera` },
    { ...common, name: 'endless MP4', url: `${web}/api/stream.mp4?src=camera` },
    { ...common, name: 'FLV', url: `${web}/api/stream.flv?src=camera` },
  ];
  return { streams, close };
}

export async function openVlcWeb(): Promise<OpenServer> {
  const [command, ...user] = installVlc();
  const outputs = {
    'MPEG-TS': '#standard{access=http,mux=ts',
    'Motion JPEG': '#transcode{vcodec=MJPG,fps=5}:standard{access=http,mux=mpjpeg',
  };
  const streams = Object.entries(outputs).map(([name, output], index): Stream => {
    const input = `${loopback}:${ports.vlcHttpUdp + index}`;
    const port = ports.vlcHttp + index;
    const address = `${loopback}:${port}/live`;
    const start = async () => {
      const published = publish(firstCase(), `-f mpegts udp://${input}?pkt_size=1316`);
      const source = ['-I', 'dummy', '--no-audio', '--sout-avcodec-strict=-1', `udp://@${input}`];
      const options = [...source, '--sout', `${output},dst=${address}}`, '--sout-keep'];
      const server = await startProcess(command, [...user, ...options], port);
      return { startedAt: published.startedAt, close: () => (stop(server), published.close()) };
    };
    return { name, url: `http://${address}`, hasClock: true, start };
  });
  return { streams, close: () => undefined };
}

/** Watches an RTSP stream, and asks for Digest authentication. */
export async function openMotion(folder: string): Promise<OpenServer> {
  const motion = installDebian('/usr/bin/motion', ['motion']);
  const source = await startOwnGo2rtc(folder, 'motion');
  const config = join(folder, 'motion.conf');
  const address = `user:secret@${loopback}:${ports.motion}`;
  const lines = [
    'daemon off',
    `netcam_url ${source.url}`,
    'width 320',
    'height 192',
    'framerate 10',
    `stream_port ${ports.motion}`,
    'stream_localhost on',
    'stream_maxrate 10',
    'stream_auth_method 2',
    'stream_authentication user:secret',
    'webcontrol_port 0',
    'picture_output off',
    'movie_output off',
    `target_dir ${folder}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const start = shared(async () => {
    const published = await source.start();
    // It shows gray if its first connection finds no stream.
    await sleep(5_000);
    const server = await startProcess(motion, ['-n', '-c', config], ports.motion);
    return { startedAt: published.startedAt, close: () => (stop(server), published.close()) };
  });
  const common = { hasClock: true, start };
  return {
    streams: [
      { ...common, name: `${snapshot}, Digest`, url: `http://${address}/0/current`, withoutClips: true },
      { ...common, name: 'Motion JPEG, Digest', url: `http://${address}/0/stream` },
    ],
    close: source.close,
  };
}

/**
 * Without a video device it serves a picture of its own, at its addresses and at those of mjpg-streamer, which
 * OctoPrint uses.
 */
export async function openUstreamer(folder: string): Promise<OpenServer> {
  const ustreamer = installDebian('/usr/bin/ustreamer', ['ustreamer']);
  const blank = join(folder, 'blank.jpg');
  execFileSync(
    'ffmpeg',
    `-loglevel error -f lavfi -i color=0x1414DC:320x192 -frames:v 1 -y ${blank}`.split(' '),
  );
  const listen = ['--host', loopback, '--port', `${ports.ustreamer}`, '--user', 'user', '--passwd', 'secret'];
  const args = ['--device', join(folder, 'none'), '--blank', blank, ...listen];
  const server = await startProcess(ustreamer, args, ports.ustreamer);
  const base = `http://user:secret@${loopback}:${ports.ustreamer}`;
  const common = { hasClock: false, start: nothing };
  return {
    streams: [
      { ...common, name: `${snapshot}, Basic`, url: `${base}/snapshot`, withoutClips: true },
      { ...common, name: 'Motion JPEG, Basic', url: `${base}/stream`, withoutClips: true },
      {
        ...common,
        name: `${snapshot}, as of OctoPrint`,
        url: `${base}/?action=snapshot`,
        withoutClips: true,
      },
      { ...common, name: 'Motion JPEG, as of OctoPrint', url: `${base}/?action=stream`, withoutClips: true },
    ],
    close: () => stop(server),
  };
}
