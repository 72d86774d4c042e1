import { readFileSync } from 'node:fs';
import { createFairByteCache } from '../../byte-cache.ts';
import { findDisplaced } from '../../fair-cache.ts';
import { readCodedPicture, type CodedPicture } from '../h264/coded-picture.ts';
import { readKeyFrameUnits } from '../mpeg-ts/extract-key-frames.ts';
import { frameSize, maxPixels, type FrameSize } from './capture-arguments.ts';
import { startDecoder, type DecoderProcess } from './decoder-process.ts';
import type { FfmpegOutput, FfmpegRunner, KeyFramePicture, PipeInput } from './run-ffmpeg.ts';
import { collectChunks } from './spawn-ffmpeg.ts';

export type DecoderPoolDeps = {
  ffmpegPath: string;
  /** Runs a process per capture: for everything that the pool does not decode, and after its failures. */
  ffmpeg: FfmpegRunner;
  maxProcesses: number;
  /** Monotonic clock, in milliseconds. Default: that of the process. */
  elapsedMs?: () => number;
  /** Starts a process that stays. Default: ffmpeg. */
  start?: (size: FrameSize | null) => DecoderProcess;
};

/** Captures of one process, after which another one takes its place. */
const maxCaptures = 500;
const maxResidentBytes = 300e6;
const checkMemoryEvery = 25;
const keepIdleMs = 65_000;
/**
 * Idle time after which another caller or size may replace a process. Callers who replace each other's would cost more
 * than a process per capture.
 */
const replaceAfterMs = 30_000;
const maxDecodeMs = 3_000;
/** Maximum of key frames that are written together, unless the first one alone has more bytes. */
const maxTogether = { keyFrames: 32, bytes: 4 * 1024 * 1024 };
/** Kinds of streams on which the pool failed, by caller and parameter sets, with the decodes that cancel it. */
const [maxKnown, maxBytes] = [2_000, 2 * 1024 * 1024];
const maxFailures = 2;
/** Decodes without failure that cancel one failure. */
const decodesForFailure = 10;

/**
 * Returns a runner that decodes H.264 key frames of MPEG-TS in processes that stay: starting ffmpeg takes ten times as
 * long as decoding. A process serves one caller and one size of frames. What is not exactly one picture, or has no
 * caller, runs in a process of its own. So does each capture after the pool failed twice on the same kind of stream: a
 * hostile stream ends few shared processes. Of several key frames, those from the first failure on run in one process
 * of their own.
 */
export function poolDecoders({
  ffmpegPath,
  ffmpeg,
  maxProcesses,
  elapsedMs = () => performance.now(),
  start = (size) => startDecoder(ffmpegPath, size),
}: DecoderPoolDeps): FfmpegRunner {
  const failures = createFairByteCache<number>({ name: 'failures of decoders', max: maxKnown, maxBytes });
  const members = createMembers({ start, maxProcesses, elapsedMs });
  return {
    run: async (input, wanted, limits, signal) => {
      const { mode, caller } = wanted;
      if (input.kind !== 'pipe' || input.format !== 'mpegts' || mode !== 'frames' || caller === undefined)
        return ffmpeg.run(input, wanted, limits, signal);
      const { keyFrames, collect } = await readInput(input);
      const batch = keyFrames.length === 1 ? readBatch(keyFrames, caller) : [];
      const [output] = await decodeBatch(batch, caller, 'frames', limits, signal);
      return output ?? ffmpeg.run({ ...input, chunks: await collect() }, wanted, limits, signal);
    },
    runAll: async (input, wanted, limits, signal) => {
      const { caller } = wanted;
      if (input.format !== 'mpegts' || caller === undefined)
        return ffmpeg.runAll(input, wanted, limits, signal);
      const { keyFrames, collect } = await readInput(input);
      const outputs: (KeyFramePicture | null)[] = [];
      for (let isDecoded = true; isDecoded && outputs.length < keyFrames.length;) {
        const batch = readBatch(keyFrames.slice(outputs.length), caller);
        const decoded = await decodeBatch(batch, caller, 'thumbnails', limits, signal);
        outputs.push(...decoded.map(({ thumbnail }) => ({ thumbnail, frame: null })));
        isDecoded = decoded.length > 0 && decoded.length === batch.length;
      }
      if (outputs.length === keyFrames.length) return outputs;
      const chunks = (await collect()).slice(outputs.length);
      return [...outputs, ...(await ffmpeg.runAll({ ...input, chunks }, wanted, limits, signal))];
    },
    ...(ffmpeg.runEachSecond && { runEachSecond: ffmpeg.runEachSecond }),
  };

  /** Returns the first key frames, without those from the first one on that needs a process of its own. */
  function readBatch(keyFrames: readonly ReadKeyFrame[], caller: string): SharedKeyFrame[] {
    const batch: SharedKeyFrame[] = [];
    let leftBytes = maxTogether.bytes;
    for (const read of keyFrames.slice(0, maxTogether.keyFrames)) {
      const keyFrame = toShared(read(), caller);
      leftBytes -= keyFrame?.bytes.length ?? 0;
      if (keyFrame === null || (batch.length > 0 && leftBytes < 0)) break;
      batch.push(keyFrame);
    }
    return batch;
  }

  function toShared(picture: CodedPicture | null, caller: string): SharedKeyFrame | null {
    if (picture === null || picture.size.width * picture.size.height > maxPixels) return null;
    const size = frameSize({ ...picture.size, ratio: picture.pixelRatio });
    if (Math.min(size.width, size.height) === 0) return null;
    const kind = picture.parameters;
    const hasFailed = (failures.get(caller, kind) ?? 0) >= maxFailures * decodesForFailure;
    return hasFailed ? null : { bytes: picture.bytes, size, kind };
  }

  /** Returns the pictures of the first key frames, up to one that needs a process of its own. */
  async function decodeBatch(
    batch: readonly SharedKeyFrame[],
    caller: string,
    wanted: 'frames' | 'thumbnails',
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FfmpegOutput[]> {
    signal.throwIfAborted();
    const [first] = batch;
    if (first === undefined) return [];
    const member = members.find(caller, wanted === 'frames' ? first.size : null);
    if (member === undefined) return [];
    const keyFrames = batch.map(({ bytes }) => bytes);
    const timeoutMs = Math.min(maxDecodeMs, limits.timeoutMs);
    const decoded = await members.decode(member, keyFrames, timeoutMs, signal);
    signal.throwIfAborted();
    count(caller, (batch[decoded.length] ?? first).kind, decoded.length === batch.length);
    return decoded;
  }

  function count(caller: string, kind: string, isDecoded: boolean): void {
    const before = failures.get(caller, kind) ?? 0;
    if (isDecoded && before === 0) return;
    failures.set(caller, kind, isDecoded ? before - 1 : before + decodesForFailure);
  }
}

type SharedKeyFrame = Pick<CodedPicture, 'bytes'> & {
  size: FrameSize;
  /** Kind of stream. */
  kind: string;
};

type MembersDeps = Required<Pick<DecoderPoolDeps, 'start' | 'maxProcesses' | 'elapsedMs'>>;

/** Creates the processes, shared fairly by caller. */
export function createMembers({ start, maxProcesses, elapsedMs }: MembersDeps) {
  /** Least recently used first. */
  const members = new Set<Member>();
  return { find, decode };

  /**
   * Returns an idle process of the caller for the size, or for thumbnails of all sizes; starts one, in the place of
   * the longest idle one, or of one of the caller with the most, if there are too many.
   */
  function find(caller: string, size: FrameSize | null): Member | undefined {
    const key = `${size === null ? 'thumbnails' : `${size.width}x${size.height}`} ${caller}`;
    const idle = [...members].filter(({ decoder }) => !decoder.isBusy());
    const fitting = idle.find((member) => member.key === key);
    if (fitting) {
      members.delete(fitting);
      members.add(fitting);
      return fitting;
    }
    if (members.size >= maxProcesses) {
      const replaced =
        idle.find(({ usedMs }) => elapsedMs() - usedMs >= replaceAfterMs) ??
        findDisplaced(members, caller, (member) => !member.decoder.isBusy());
      if (replaced === undefined) return undefined;
      dismiss(replaced);
    }
    const member: Member = {
      caller,
      key,
      decoder: start(size),
      captures: 0,
      usedMs: elapsedMs(),
      idleTimer: undefined,
    };
    members.add(member);
    return member;
  }

  async function decode(
    member: Member,
    ...[keyFrames, ...limits]: Parameters<DecoderProcess['decode']>
  ): Promise<FfmpegOutput[]> {
    clearTimeout(member.idleTimer);
    const pictures = await member.decoder.decode(keyFrames, ...limits);
    const before = member.captures;
    member.captures += keyFrames.length;
    member.usedMs = elapsedMs();
    if (pictures.length < keyFrames.length || isWorn(member, before)) dismiss(member);
    else member.idleTimer = setTimeout(() => dismiss(member), keepIdleMs).unref();
    return pictures;
  }

  function dismiss(member: Member): void {
    clearTimeout(member.idleTimer);
    members.delete(member);
    member.decoder.close();
  }
}

type ReadKeyFrame = () => CodedPicture | null;

/** Returns the key frames of an input, each read when it is needed, and its chunks for a process of their own. */
async function readInput({ keyFrames, chunks }: PipeInput): Promise<{
  keyFrames: ReadKeyFrame[];
  collect: () => Promise<Uint8Array[]>;
}> {
  if (keyFrames)
    return {
      keyFrames: keyFrames.map(
        (unit) => () => readCodedPicture(Buffer.from(unit.buffer, unit.byteOffset, unit.length)),
      ),
      collect: () => collectChunks(chunks),
    };
  const collected = await collectChunks(chunks);
  return {
    keyFrames: collected.map((chunk) => () => readKeyFrameUnits(chunk)),
    collect: async () => collected,
  };
}

type Member = {
  caller: string;
  /** Size, or thumbnails, and caller. */
  key: string;
  decoder: DecoderProcess;
  captures: number;
  usedMs: number;
  idleTimer: NodeJS.Timeout | undefined;
};

function isWorn({ decoder, captures }: Member, before: number): boolean {
  if (captures >= maxCaptures) return true;
  const isDue = Math.floor(captures / checkMemoryEvery) > Math.floor(before / checkMemoryEvery);
  return isDue && residentBytes(decoder.pid) > maxResidentBytes;
}

/** Resident memory of a process on Linux; 0 elsewhere. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
