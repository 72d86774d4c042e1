import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { cases, type Case } from './cases.ts';
import { changes, disturbed } from './disturbances.ts';
import { openGohlslib, openGstreamerHls } from './hls-servers.ts';
import {
  installDebian,
  installGo,
  installNpm,
  installOwnGo,
  installVlc,
  UnavailableError,
} from './install.ts';
import { openGo2rtcOnvif, openOnvifServer } from './onvif-cameras.ts';
import { openGo2rtcWeb, openMotion, openUstreamer, openVlcWeb } from './picture-servers.ts';
import {
  carriedBy,
  nothing,
  ports,
  publish,
  shared,
  slug,
  startProcess,
  stop,
  type OpenServer,
  type Server,
  type Stream,
} from './processes.ts';

/** Starts a server that forwards what ffmpeg publishes to it. */
async function startGortsplib(port: number) {
  const program = await installOwnGo('gortsplib', 'github.com/bluenviron/gortsplib/v5', 'v5.3.1');
  const serve = () => startProcess(program, [`127.0.0.1:${port}`], port);
  let server = await serve();
  const address = (path: string) => `rtsp://127.0.0.1:${port}/${path}`;
  return {
    address,
    publish: (each: Case, path: string) => publish(each, `-f rtsp -rtsp_transport tcp ${address(path)}`),
    restart: async () => {
      stop(server);
      await sleep(2_000);
      server = await serve();
    },
    close: () => stop(server),
  };
}

async function openGortsplib(): Promise<OpenServer> {
  const server = await startGortsplib(ports.gortsplib);
  const streams = carriedBy('rtsp').map((each): Stream => ({
    name: each.name,
    url: server.address(slug(each)),
    confirms: each.confirms,
    hasClock: true,
    start: async () => server.publish(each, slug(each)),
  }));
  const { publisher, resolution, codec } = changes;
  const changed = [publisher, resolution, codec].map((change) => disturbed(change, server));
  const other = await startGortsplib(ports.restarted);
  return {
    streams: [
      ...streams,
      ...streams.slice(0, 1).map(throughHttp),
      ...changed,
      disturbed(changes.server, other, other.restart),
    ],
    close: () => (server.close(), other.close()),
  };
}

/** Reads the streams that ffmpeg publishes to gortsplib. */
async function openGo2rtc(folder: string) {
  const program = await installGo('go2rtc', 'github.com/AlexxIT/go2rtc', 'v1.9.9');
  const { go2rtc: rtsp, go2rtcHttp: http } = ports;
  const chosen = carriedBy('rtsp').filter(({ name }) => /every|H\.265$|B-frames|Motion/.test(name));
  const source = await startGortsplib(ports.go2rtcSource);
  const published = chosen.map((each) => `  ${slug(each)}: ${source.address(slug(each))}`);
  const config = join(folder, 'go2rtc.yaml');
  writeFileSync(
    config,
    `api: {listen: "127.0.0.1:${http}"}\nrtsp: {listen: "127.0.0.1:${rtsp}"}\nwebrtc: {listen: ""}\nsrtp: {listen: ""}\nstreams:\n${published.join('\n')}\n`,
  );
  const server = await startProcess(program, ['-config', config], http);
  const streams = chosen.flatMap((each): Stream[] => {
    const start = shared(async () => source.publish(each, slug(each)));
    const common = { hasClock: true, confirms: each.confirms, start };
    const playlist = `http://127.0.0.1:${http}/api/stream.m3u8?src=${slug(each)}`;
    const isH264 = each.name.startsWith('H.264');
    return [
      { ...common, name: `RTSP, ${each.name}`, url: `rtsp://127.0.0.1:${rtsp}/${slug(each)}` },
      ...(isH264
        ? [
            { ...common, name: `HLS, ${each.name}`, url: playlist },
            { ...common, name: `HLS (fMP4), ${each.name}`, url: `${playlist}&mp4` },
          ]
        : []),
    ];
  });
  return {
    streams,
    close: () => {
      stop(server);
      source.close();
    },
  };
}

async function openGstreamer() {
  const script = fileURLToPath(new URL('gstreamer.py', import.meta.url));
  installDebian('/usr/lib/x86_64-linux-gnu/girepository-1.0/GstRtspServer-1.0.typelib', [
    'python3-gi',
    'gir1.2-gst-rtsp-server-1.0',
    'gstreamer1.0-plugins-good',
    'gstreamer1.0-plugins-bad',
    'gstreamer1.0-plugins-ugly',
  ]);
  const video = (rate: string, format = 'I420') =>
    `videotestsrc is-live=true pattern=solid-color foreground-color=0xFF1414DC ! video/x-raw,format=${format},width=320,height=192,framerate=${rate}`;
  const h264 = 'rtph264pay name=pay0 pt=96 config-interval=-1';
  const x264 = (options: string) => `x264enc tune=zerolatency speed-preset=ultrafast ${options}`;
  const pipelines: Record<string, string> = {
    'H.264': `${video('10/1')} ! ${x264('key-int-max=20')} ! ${h264}`,
    'H.264, interlaced': `${video('20/1')} ! interlace field-pattern=1:1 ! ${x264('interlaced=true key-int-max=20')} ! ${h264}`,
    'H.264, a frame every 2 s': `${video('1/2')} ! ${x264('key-int-max=3')} ! ${h264}`,
    'H.265': `${video('10/1')} ! x265enc tune=zerolatency speed-preset=ultrafast key-int-max=20 ! rtph265pay name=pay0 pt=96 config-interval=-1`,
    VP8: `${video('10/1')} ! vp8enc deadline=1 keyframe-max-dist=20 ! rtpvp8pay name=pay0 pt=96`,
    VP9: `${video('10/1')} ! vp9enc deadline=1 keyframe-max-dist=20 ! rtpvp9pay name=pay0 pt=96`,
    'Motion JPEG': `${video('10/1')} ! jpegenc ! rtpjpegpay name=pay0 pt=26`,
    'MPEG-TS over RTP': `${video('10/1')} ! ${x264('key-int-max=20')} ! mpegtsmux alignment=7 ! rtpmp2tpay name=pay0 pt=33`,
  };
  const named = Object.entries(pipelines).map(([name, pipeline], index) => ({
    name,
    pipeline,
    path: `s${index}`,
  }));
  const args = [script, `${ports.gstreamer}`, ...named.map(({ path, pipeline }) => `${path}=${pipeline}`)];
  const server = await startProcess('/usr/bin/python3', args, ports.gstreamer);
  const streams = named.map(({ name, path }): Stream => ({
    name,
    url: `rtsp://127.0.0.1:${ports.gstreamer}/${path}`,
    hasClock: false,
    start: nothing,
  }));
  return { streams: [...streams, ...streams.slice(0, 1).map(throughHttp)], close: () => stop(server) };
}

/** Both servers tunnel RTSP on the same port. */
function throughHttp(stream: Stream): Stream {
  return { ...stream, name: 'H.264, through HTTP', url: stream.url.replace('rtsp:', 'rtsp+http:') };
}

async function openVlc() {
  const [command, ...user] = installVlc();
  const url = `rtsp://127.0.0.1:${ports.vlc}/live`;
  const [each] = cases;
  if (each === undefined) throw new UnavailableError('There is no case');
  const start = async () => {
    const published = publish(each, `-f mpegts udp://127.0.0.1:${ports.udp}?pkt_size=1316`);
    const input = `udp://@127.0.0.1:${ports.udp}`;
    const options = ['-I', 'dummy', '--no-audio', input, '--sout', `#rtp{sdp=${url}}`, '--sout-keep'];
    const server = await startProcess(command, [...user, ...options], ports.vlc);
    return { startedAt: published.startedAt, close: () => (stop(server), published.close()) };
  };
  const onlyUdp = { name: 'H.264, by UDP only', url, hasClock: true, start, onlyUdp: true };
  return { streams: [onlyUdp], close: () => undefined };
}

async function openNginx(folder: string) {
  const nginx = installDebian('/usr/sbin/nginx', ['nginx-light', 'libnginx-mod-rtmp']);
  const files = join(folder, 'hls');
  mkdirSync(join(files, 'keys'), { recursive: true });
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
user root; daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
rtmp { server { listen 127.0.0.1:${ports.rtmp}; application live { live on; hls on; hls_path ${files}; hls_fragment 2s; hls_playlist_length 10s; }
  application keys { live on; hls on; hls_path ${files}/keys; hls_fragment 2s; hls_playlist_length 10s; hls_keys on; hls_key_path ${files}/keys; hls_fragments_per_key 2; } } }
http { access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${ports.http}; gzip on; gzip_types *; gzip_min_length 1; root ${files};
    location /moved/ { rewrite ^/moved/(.*)$ /$1 redirect; } } }
`,
  );
  const server = await startProcess(nginx, ['-c', config, '-p', folder], ports.rtmp);
  const streams = carriedBy('rtmp').map((each, index): Stream => {
    const start = async () => publish(each, `-f flv rtmp://127.0.0.1:${ports.rtmp}/live/${slug(each)}`);
    const path = `${index === 0 ? 'moved/' : ''}${slug(each)}.m3u8`;
    return {
      name: `HLS, ${each.name}${index === 0 ? ', gzip, redirect' : ''}`,
      url: `http://127.0.0.1:${ports.http}/${path}`,
      confirms: each.confirms,
      hasClock: true,
      start,
    };
  });
  const changed = [changes.publisher, changes.resolution].map((change): Stream => ({
    ...disturbed(change, {
      address: (path) => `http://127.0.0.1:${ports.http}/${path}.m3u8`,
      publish: (each, path) => publish(each, `-f flv rtmp://127.0.0.1:${ports.rtmp}/live/${path}`),
    }),
    name: `HLS, ${change.name}`,
  }));
  const name = 'encrypted';
  const [usual] = cases;
  const encrypted = usual && {
    name: 'HLS, H.264, AES-128 with keys that change',
    url: `http://127.0.0.1:${ports.http}/keys/${name}.m3u8`,
    hasClock: true,
    start: async () => publish(usual, `-f flv rtmp://127.0.0.1:${ports.rtmp}/keys/${name}`),
  };
  return { streams: [...streams, ...changed, ...(encrypted ? [encrypted] : [])], close: () => stop(server) };
}

/** Its files are served by Python. */
async function openShaka(folder: string) {
  const bin = join(await installNpm('shaka-packager', '3.4.2'), 'bin', `packager-linux-${process.arch}`);
  if (!existsSync(bin)) throw new UnavailableError('Shaka Packager has no program for this machine');
  chmodSync(bin, 0o755);
  const files = join(folder, 'shaka');
  mkdirSync(files, { recursive: true });
  const server = await startProcess(
    'python3',
    ['-m', 'http.server', `${ports.shaka}`, '--bind', '127.0.0.1', '-d', files],
    ports.shaka,
  );
  const chosen = carriedBy('ts').filter(({ name }) => /second|B-frames|H\.265$|wrap/.test(name));
  const streams = chosen.flatMap((each, index) =>
    ['ts', 'm4s'].map((kind): Stream => {
      const udp = `udp://127.0.0.1:${ports.shakaUdp + 2 * index + (kind === 'ts' ? 0 : 1)}`;
      const name = `${slug(each)}-${kind}`;
      const segments =
        kind === 'm4s'
          ? `init_segment=${files}/${name}-init.mp4,segment_template=${files}/${name}-$Number$.m4s`
          : `segment_template=${files}/${name}-$Number$.ts`;
      const args = [
        `in=${udp},stream=video,${segments},playlist_name=${name}.m3u8`,
        '--hls_master_playlist_output',
        `${files}/${name}-all.m3u8`,
        '--hls_playlist_type',
        'LIVE',
        '--segment_duration',
        '2',
      ];
      const start = async () => {
        const packager = spawn(bin, args, { stdio: 'ignore' });
        await sleep(500);
        const published = publish(each, `-f mpegts ${udp}?pkt_size=1316`);
        return { startedAt: published.startedAt, close: () => (published.close(), stop(packager)) };
      };
      return {
        name: `${kind === 'ts' ? 'HLS' : 'HLS (fMP4)'}, ${each.name}`,
        url: `http://127.0.0.1:${ports.shaka}/${name}-all.m3u8`,
        confirms: each.confirms,
        hasClock: true,
        start,
      };
    }),
  );
  return { streams, close: () => stop(server) };
}

export const servers: readonly Server[] = [
  { name: 'gortsplib', open: openGortsplib },
  { name: 'go2rtc', open: openGo2rtc },
  { name: 'GStreamer', open: openGstreamer },
  { name: 'VLC', open: openVlc },
  { name: 'nginx-rtmp', open: openNginx },
  { name: 'Shaka Packager', open: openShaka },
  { name: 'gohlslib', open: openGohlslib },
  { name: 'GStreamer (HLS)', open: openGstreamerHls },
  { name: 'go2rtc (HTTP)', open: openGo2rtcWeb },
  { name: 'VLC (HTTP)', open: openVlcWeb },
  { name: 'motion', open: openMotion },
  { name: 'ustreamer', open: openUstreamer },
  { name: 'onvif-server', open: openOnvifServer },
  { name: 'go2rtc (ONVIF)', open: openGo2rtcOnvif },
];
