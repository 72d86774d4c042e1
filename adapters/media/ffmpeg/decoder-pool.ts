import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { readKeyFrameUnits } from '../mpeg-ts/key-frame-units.ts';
import { startDecoder, type DecoderProcess, type FrameSize } from './decoder-process.ts';
import type { FfmpegOutput, FfmpegRunner } from './run-ffmpeg.ts';

export type DecoderPoolDeps = {
  ffmpegPath: string;
  /** Runs a process per capture: for everything that the pool does not decode, and after its failures. */
  ffmpeg: FfmpegRunner;
  maxProcesses: number;
};

/** Captures of one process, after which another one takes its place. */
const maxCaptures = 500;
const maxResidentBytes = 300e6;
const checkMemoryEvery = 25;
const keepIdleMs = 65_000;
const maxDecodeMs = 3_000;
/** Kinds of streams that are known, by their parameter sets. */
const maxKnown = 2_000;
const maxFailures = 2;

/**
 * Returns a runner that decodes H.264 key frames of MPEG-TS in processes that stay, one frame at a time: starting ffmpeg takes ten times as long as
 * decoding. The first capture of a kind of stream runs in a process of its own, which tells the size of its frames. So does each capture after the
 * pool failed twice on the same kind: a hostile stream ends few shared processes.
 */
export function poolDecoders({ ffmpegPath, ffmpeg, maxProcesses }: DecoderPoolDeps): FfmpegRunner {
  const known = new LRUCache<string, Kind>({ max: maxKnown });
  const members = new Set<Member>();
  return {
    run: async (input, wanted, limits, signal) => {
      if (input.kind !== 'pipe' || input.format !== 'mpegts' || wanted.mode !== 'frames')
        return ffmpeg.run(input, wanted, limits, signal);
      const chunks: Uint8Array[] = [];
      for await (const chunk of input.chunks) chunks.push(chunk);
      const alone = () => ffmpeg.run({ ...input, chunks }, wanted, limits, signal);
      const [chunk] = chunks;
      const keyFrame = chunk && chunks.length === 1 ? readKeyFrameUnits(chunk) : null;
      if (keyFrame === null) return alone();
      const kind = known.get(keyFrame.parameters);
      if (kind === undefined) {
        const output = await alone();
        const header = readJpegHeader(output.frame);
        if (header) known.set(keyFrame.parameters, { size: header, failures: 0 });
        return output;
      }
      if (kind.failures >= maxFailures) return alone();
      signal.throwIfAborted();
      const member = findMember(kind.size);
      if (member === undefined) return alone();
      const picture = await decodeIn(member, keyFrame.bytes, Math.min(maxDecodeMs, limits.timeoutMs));
      signal.throwIfAborted();
      kind.failures = picture === null ? kind.failures + 1 : 0;
      return picture ?? alone();
    },
  };

  /** Returns an idle process for the size; starts one, in the place of an idle one of another size if there are too many. */
  function findMember(size: FrameSize): Member | undefined {
    const idle = [...members].filter(({ decoder }) => !decoder.isBusy());
    const fitting = idle.find(({ decoder }) => isSameSize(decoder.size, size));
    if (fitting) return fitting;
    if (members.size >= maxProcesses) {
      const [replaced] = idle;
      if (replaced === undefined) return undefined;
      dismiss(replaced);
    }
    const member: Member = { decoder: startDecoder(ffmpegPath, size), captures: 0, idleTimer: undefined };
    members.add(member);
    return member;
  }

  async function decodeIn(
    member: Member,
    keyFrame: Uint8Array,
    timeoutMs: number,
  ): Promise<FfmpegOutput | null> {
    clearTimeout(member.idleTimer);
    const picture = await member.decoder.decode(keyFrame, timeoutMs);
    member.captures += 1;
    if (picture === null || isWorn(member)) dismiss(member);
    else member.idleTimer = setTimeout(() => dismiss(member), keepIdleMs).unref();
    return picture;
  }

  function dismiss(member: Member): void {
    clearTimeout(member.idleTimer);
    members.delete(member);
    member.decoder.close();
  }
}

/** Streams with the same parameter sets: the size of their frames, and how often the pool failed on them in a row. */
type Kind = { size: FrameSize; failures: number };

type Member = { decoder: DecoderProcess; captures: number; idleTimer: NodeJS.Timeout | undefined };

function isWorn({ decoder, captures }: Member): boolean {
  if (captures >= maxCaptures) return true;
  return captures % checkMemoryEvery === 0 && residentBytes(decoder.pid) > maxResidentBytes;
}

/** Resident memory of a process on Linux; 0 elsewhere. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}

function isSameSize(one: FrameSize, other: FrameSize): boolean {
  return one.width === other.width && one.height === other.height;
}
