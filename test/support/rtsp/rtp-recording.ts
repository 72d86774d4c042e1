import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath } from '../hls/recording.ts';
import { startScriptedServer } from './scripted-server.ts';

/** RTP recording of ffmpeg: its SDP, and the packets of its tracks without interleaving. */
export type RtpRecording = { description: string; packets: RtpPacket[] };

/** RTP packet, or RTCP if `isControl`; tracks are in the order of the SDP. */
export type RtpPacket = { track: number; isControl: boolean; bytes: Buffer };

export type RtpRecordingOptions = {
  codec?: 'h264' | 'h265' | 'mjpeg';
  /** Duration at 10 frames per second. Default: 5. */
  keyFrameEvery?: number;
  seconds?: number;
  size?: string;
  /** Groups with B-frames, that begin without an IDR picture, or none. H.265 has open groups with B-frames. */
  groups?: 'B-frames' | 'open' | 'refreshed';
  /** Adds audio before the video, also in the SDP. */
  sound?: boolean;
};

const made = new Map<string, Promise<RtpRecording>>();

/** Returns a recording, created once per kind at full speed. Luma is 30 + 12 per second, as in the HLS recordings. */
export async function recordRtp(options: RtpRecordingOptions = {}): Promise<RtpRecording> {
  const key = JSON.stringify(options);
  const recording = made.get(key) ?? recordPackets(ffmpegPath, commandLine(options));
  made.set(key, recording);
  return recording;
}

/**
 * Publishes with ffmpeg to a server that accepts all requests (ANNOUNCE, RECORD). `args` are those of input and
 * encoder.
 */
export async function recordPackets(ffmpeg: string, args: readonly string[]): Promise<RtpRecording> {
  let description = '';
  const server = await startScriptedServer(({ method, body, header }) => {
    if (method === 'ANNOUNCE') description = body;
    const transport = header('transport');
    return { status: 200, headers: { Session: '1', ...(transport && { Transport: transport }) } };
  });
  try {
    const output = ['-f', 'rtsp', '-rtsp_transport', 'tcp', server.url];
    await promisify(execFile)(ffmpeg, ['-nostdin', '-loglevel', 'error', ...args, ...output]);
    const packets = server.frames.map((frame) => ({
      track: frame[1]! >> 1,
      isControl: frame[1]! % 2 === 1,
      bytes: frame.subarray(4),
    }));
    return { description, packets };
  } finally {
    await server.close();
  }
}

function commandLine(options: RtpRecordingOptions): string[] {
  const { codec = 'h264', keyFrameEvery: group = 5, seconds = 3, sound = false, groups } = options;
  const { size = '320x176' } = options;
  const structure = {
    'B-frames': '-tune grain -bf 2',
    open: '-bf 2 -x264-params open-gop=1',
    refreshed: '-x264-params intra-refresh=1',
  };
  const encoders = {
    h264: `-c:v libx264 -preset ultrafast -tune zerolatency ${groups ? structure[groups] : ''} -bsf:v dump_extra`,
    h265: groups
      ? `-c:v libx265 -preset ultrafast -x265-params log-level=none:repeat-headers=1:bframes=2`
      : `-c:v libx265 -preset ultrafast -tune zerolatency -x265-params log-level=none:repeat-headers=1`,
    mjpeg: '-c:v mjpeg -pix_fmt yuvj420p -huffman default -force_duplicated_matrix 1',
  };
  // A picture of one level is drawn small.
  const scene = `nullsrc=size=16x16:rate=10,format=yuv420p,geq=lum='30+12*T':cb=128:cr=128,scale=${size.replace('x', ':')}:flags=neighbor,setsar=1`;
  const tracks = sound ? '-f lavfi -i sine -map 1:a -map 0:v -c:a pcm_alaw -ar 8000 -ac 1' : '';
  const output = `${encoders[codec]} -g ${group} -keyint_min ${group} -sc_threshold 0 -t ${seconds}`;
  const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');
  return [...words('-f lavfi -i'), scene, ...words(tracks), ...words(output)];
}
