import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { installDebian, installOwnGo } from './install.ts';
import {
  carriedBy,
  ports,
  publish,
  slug,
  startProcess,
  stop,
  type OpenServer,
  type Stream,
} from './processes.ts';

const loopback = '127.0.0.1';

/** Its muxer receives what ffmpeg encodes, in a program of this folder. */
export async function openGohlslib(): Promise<OpenServer> {
  const program = await installOwnGo('gohlslib', 'github.com/bluenviron/gohlslib/v2', 'v2.2.2');
  const chosen = carriedBy('ts').filter(({ name }) => /second|10 s|B-frames|H\.265$/.test(name));
  const kinds = chosen.flatMap((each) =>
    Object.entries({ ts: 'HLS', fmp4: 'HLS (fMP4)', 'low-latency': 'HLS (low latency)' })
      // Its MPEG-TS has H.264 only.
      .filter(([variant]) => variant !== 'ts' || each.name.startsWith('H.264'))
      .map(([variant, label]) => ({ each, variant, label })),
  );
  const streams = kinds.map(({ each, variant, label }, index): Stream => {
    const port = ports.gohlslib + index;
    const [http, udp] = [`${loopback}:${port}`, `${loopback}:${ports.gohlslibUdp + index}`];
    return {
      name: `${label}, ${each.name}`,
      url: `http://${http}/index.m3u8`,
      confirms: each.confirms,
      hasClock: true,
      start: async () => {
        const server = await startProcess(program, [http, udp, variant], port);
        const published = publish(each, `-f mpegts udp://${udp}?pkt_size=1316`);
        return { startedAt: published.startedAt, close: () => (published.close(), stop(server)) };
      },
    };
  });
  return { streams, close: () => undefined };
}

/** GStreamer writes the files, and Python serves them. */
export async function openGstreamerHls(folder: string): Promise<OpenServer> {
  const launch = installDebian('/usr/bin/gst-launch-1.0', [
    'gstreamer1.0-tools',
    'gstreamer1.0-plugins-good',
    'gstreamer1.0-plugins-bad',
    'gstreamer1.0-plugins-ugly',
  ]);
  const files = join(folder, 'gstreamer');
  mkdirSync(files, { recursive: true });
  const port = ports.gstreamerHttp;
  const server = await startProcess(
    'python3',
    ['-m', 'http.server', `${port}`, '--bind', loopback, '-d', files],
    port,
  );
  const video =
    'videotestsrc is-live=true pattern=solid-color foreground-color=0xFF1414DC ! video/x-raw,format=I420,width=320,height=192,framerate=10/1';
  const encoders = {
    'H.264': 'x264enc tune=zerolatency speed-preset=ultrafast key-int-max=20 ! h264parse',
    'H.265': 'x265enc tune=zerolatency speed-preset=ultrafast key-int-max=20 ! h265parse',
  };
  const streams = Object.entries(encoders).map(([name, encoder]): Stream => {
    const id = slug({ name, encoding: '' });
    const sink = `hlssink2 location=${files}/${id}-%05d.ts playlist-location=${files}/${id}.m3u8 target-duration=2`;
    return {
      name: `HLS, ${name}`,
      url: `http://${loopback}:${port}/${id}.m3u8`,
      hasClock: false,
      start: async () => {
        const writer = spawn(launch, `${video} ! ${encoder} ! ${sink}`.split(' '), { stdio: 'ignore' });
        return { startedAt: Date.now(), close: () => stop(writer) };
      },
    };
  });
  return { streams, close: () => stop(server) };
}
