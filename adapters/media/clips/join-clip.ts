import { StreamFetchError, TransientError } from '../../../core/errors.ts';
import { maxClipBytes, type ClipRequest } from '../../../core/records/clip.ts';
import {
  clipEncoding,
  pipeArguments,
  quietArguments,
  scaleDown,
  words,
} from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { spawnFfmpeg } from '../ffmpeg/spawn-ffmpeg.ts';
import { regionFilters } from '../images/mask-media.ts';

/** Film of a stream: its bytes, or JPEGs at a rate. */
export type FilmInput = {
  format: 'mpegts' | 'mov' | 'mjpeg';
  /** Called once the film has its turn: what it returns may be a copy. */
  toChunks: () => Uint8Array[];
  framesPerSecond?: number;
  /** H.265. */
  isHevc?: boolean;
};

/**
 * Joins a film to fragmented MP4 without audio, and stores it in the same turn. Excluded regions are black. Throws
 * `StreamFetchError` for a film that cannot be joined.
 */
export type JoinClip = (
  film: FilmInput,
  request: Pick<ClipRequest, 'regions' | 'store'>,
  signal: AbortSignal,
) => Promise<{ bytes: number; codec: string }>;

/** Time of one run, in milliseconds: encoding a minute of 1080p takes some 15 s on one core. */
const timeoutMs = 60_000;
const encodedWidth = 640;

type JoinDeps = {
  ffmpegPath: string;
  /** Turns of clips. */
  inTurn: InTurn;
  /**
   * Turns of ffmpeg, for what is encoded: a copy takes hardly longer than its start, and is late behind checks. They
   * are around the turn of the clip, so that no copy waits for what waits for them.
   */
  inEncodingTurn?: InTurn;
};

/** Creates the joining with ffmpeg: from key frame to end without encoding, but for JPEGs and for excluded regions. */
export function createJoinClip({ ffmpegPath, inTurn, inEncodingTurn = withoutTurns }: JoinDeps): JoinClip {
  return async ({ format, toChunks, framesPerSecond, isHevc }, { regions, store }, signal) => {
    const excluded = (regions ?? []).filter(({ mode }) => mode === 'exclude');
    const isEncoded = excluded.length > 0 || format === 'mjpeg';
    const filters = [scaleDown(encodedWidth), ...regionFilters(excluded), 'format=yuv420p'].join(',');
    const args = [
      ...quietArguments,
      ...pipeArguments(format, framesPerSecond),
      ...words('-map 0:v:0 -an -sn -dn'),
      ...(isEncoded ? ['-vf', filters, ...clipEncoding, ...words('-g 50')] : words('-c copy')),
      // Safari plays no hev1, which ffmpeg writes by default.
      ...(isHevc && !isEncoded ? words('-tag:v hvc1') : []),
      ...words('-movflags +frag_keyframe+empty_moov+default_base_moof -f mp4 pipe:1'),
    ];
    const run = { ffmpegPath, args, outputBytes: maxClipBytes, timeoutMs, canWait: true };
    const joinNow = async () => {
      const outcome = await spawnFfmpeg({ ...run, input: toChunks() }, signal);
      if (outcome.ended === 'wrote too much') throw notJoined('The clip is larger than 40 MB');
      if (outcome.ended === 'timed out') throw new TransientError('The clip took too long to be joined');
      const codec = readCodec(outcome.stdout);
      if (codec === null || !hasFragment(outcome.stdout))
        throw notJoined('The clip has no key frame, or a codec that MP4 does not hold', outcome.stderr);
      await store(outcome.stdout);
      return { bytes: outcome.stdout.length, codec };
    };
    const joinInTurn = () => inTurn(joinNow, signal);
    return isEncoded ? inEncodingTurn(joinInTurn, signal) : joinInTurn();
  };
}

function notJoined(message: string, complaint = ''): StreamFetchError {
  return new StreamFetchError('Read the stream in a video player.', message, { cause: new Error(complaint) });
}

/** Returns the sample entry of the only track (ISO/IEC 14496-12, 8.5.2); `null` without one. */
function readCodec(film: Uint8Array): string | null {
  const head = Buffer.from(film.buffer, film.byteOffset, Math.min(film.length, 4096));
  const offset = head.indexOf('stsd');
  const name = offset < 0 ? '' : head.toString('latin1', offset + 16, offset + 20);
  return /^\w{4}$/.test(name) ? name : null;
}

function hasFragment(film: Uint8Array): boolean {
  return Buffer.from(film.buffer, film.byteOffset, film.byteLength).includes('moof');
}
