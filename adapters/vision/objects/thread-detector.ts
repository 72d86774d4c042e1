import { Worker } from 'node:worker_threads';
import { createFairQueue, type ReportUse, type ReportWait } from '../../fair-queue.ts';
import { z } from 'zod';
import type { SetTimer } from '../../../core/time-limit.ts';
import { objectClasses } from './classes.ts';
import {
  type Detection,
  DetectorBusyError,
  DetectorError,
  nearestInputSize,
  type ObjectDetector,
  type Picture,
  type PictureSize,
} from './detector.ts';
import type { NetworkFiles } from './packages.ts';

const share = z.number().min(0).max(1);
const detectionSchema = z.object({
  object: z.enum(objectClasses),
  score: share,
  box: z.object({ x: share, y: share, width: share, height: share }),
});
const replySchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ id: z.number(), detections: z.array(detectionSchema) }),
  z.object({ id: z.number(), error: z.string() }),
]);

type Call = {
  picture: Picture;
  caller: string;
  calledMs: number;
  resolve(detections: Detection[]): void;
  reject(error: Error): void;
};

/** Maximum calls that wait, half a minute of work on an idle core. Each holds an image of 0.4 MB. */
const maxWaiting = 256;
/** Time without a call after which a further thread ends, in milliseconds: it takes 140 MB. */
const keepIdleMs = 60_000;

export type NetworkThread = Pick<Worker, 'on' | 'postMessage' | 'ref' | 'unref' | 'terminate'>;

/** Input of a thread: the files of the network, and the size of an image that it evaluates before it is ready. */
export type NetworkThreadData = NetworkFiles & { warmUp: PictureSize | null };

export type ThreadDetectorDeps = {
  reportWait?: ReportWait;
  reportUse?: ReportUse | undefined;
  /** Returns for whom a call is. Default: one caller for all. */
  currentCaller?: () => string;
  /** Default: 1. */
  maxThreads?: number;
  setTimer?: SetTimer;
  startThread?: (data: NetworkThreadData) => NetworkThread;
};

type Member = {
  thread: NetworkThread;
  isReady: boolean;
  running: { id: number; call: Call } | undefined;
  cancelClosing: () => void;
};

/**
 * Creates a detector that runs the network in threads, one image each at a time, fairly by caller. The first thread
 * starts with the first image, further ones while images wait, if `maxThreads` allows. Threads start again after a
 * failure, and do not keep the process alive while they wait.
 */
export function createThreadDetector(
  files: NetworkFiles,
  {
    reportWait = () => undefined,
    reportUse,
    currentCaller = () => '',
    maxThreads = 1,
    setTimer = setQuietTimer,
    startThread = startNetworkThread,
  }: ThreadDetectorDeps = {},
): ObjectDetector {
  /** Threads in the order of their start: the first free one takes a call, so that the others can end. */
  const members: Member[] = [];
  let limit = maxThreads;
  let lastId = 0;
  const queue = createCallQueue({ reportWait, reportUse, currentCaller });

  function addThread({ width, height }: PictureSize): void {
    const isFurther = members.length > 0;
    const thread = startThread({ ...files, warmUp: isFurther ? { width, height } : null });
    if (isFurther) thread.unref();
    // The first thread takes calls while it starts: nothing else could.
    const member: Member = {
      thread,
      isReady: !isFurther,
      running: undefined,
      cancelClosing: () => undefined,
    };
    members.push(member);
    thread.on('error', (error) => fail(member, String(error)));
    thread.on('exit', (code) => fail(member, `exit code ${code}`));
    thread.on('message', (message: unknown) => {
      receive(member, message);
      runNext();
      if (member.running === undefined) rest(member);
    });
  }

  function fail(member: Member, reason: string): void {
    if (!remove(members, member)) return;
    const error = new DetectorError(
      `The object detector stopped: ${reason}. Run npm ci to repair its packages`,
    );
    member.running?.call.reject(error);
    // A machine that cannot run one more keeps those that it has.
    if (members.length > 0) limit = members.length;
    else queue.rejectAll(error);
  }

  function runNext(): void {
    for (;;) {
      const waiting = queue.peek();
      if (waiting === undefined) return;
      const free = members.find(({ isReady, running }) => isReady && running === undefined);
      if (free === undefined) {
        const isStarting = members.some(({ isReady }) => !isReady);
        // A further thread warms up: until it is quick, the others take the calls.
        if (members.length < limit && !isStarting) addThread(waiting.picture);
        return;
      }
      const call = queue.take();
      if (call !== undefined) run(free, call);
    }
  }

  function run(member: Member, call: Call): void {
    member.cancelClosing();
    member.thread.ref();
    reportWait(performance.now() - call.calledMs, call.caller);
    lastId += 1;
    member.running = { id: lastId, call };
    member.thread.postMessage({ id: lastId, ...call.picture });
  }

  function rest(member: Member): void {
    member.thread.unref();
    member.cancelClosing();
    if (members.indexOf(member) <= 0) return;
    member.cancelClosing = setTimer(() => {
      if (member.running === undefined && remove(members, member)) void member.thread.terminate();
    }, keepIdleMs);
  }

  return {
    inputSize: nearestInputSize,

    async detect(picture, signal) {
      const detections = queue.add(picture, signal);
      runNext();
      return detections;
    },

    async close() {
      await Promise.all(members.map(({ thread }) => thread.terminate()));
    },
  };
}

function remove(members: Member[], member: Member): boolean {
  const index = members.indexOf(member);
  if (index >= 0) members.splice(index, 1);
  return index >= 0;
}

/** Applies a message of a thread: it is ready, or its call has a result. */
function receive(member: Member, message: unknown): void {
  const reply = replySchema.parse(message);
  if ('ready' in reply) {
    member.isReady = true;
    return;
  }
  if (reply.id !== member.running?.id) return;
  const { call } = member.running;
  member.running = undefined;
  if ('error' in reply) call.reject(new DetectorError(`The object detector failed: ${reply.error}`));
  else call.resolve(reply.detections);
}

/** Creates the queue of calls that wait for their turn, fairly by caller. */
function createCallQueue({
  reportWait,
  reportUse,
  currentCaller,
}: Required<Pick<ThreadDetectorDeps, 'reportWait' | 'currentCaller'>> &
  Pick<ThreadDetectorDeps, 'reportUse'>) {
  const queue = createFairQueue<Call>({ elapsedMs: () => performance.now(), maxWaiting, reportUse });
  return {
    /**
     * Adds a call and waits for its result. Aborted while it waits, it leaves without a run. Throws
     * `DetectorBusyError` if too many wait and it is the newest of the caller with the most.
     */
    async add(picture: Picture, signal: AbortSignal): Promise<Detection[]> {
      signal.throwIfAborted();
      const caller = currentCaller();
      const { promise, resolve, reject } = Promise.withResolvers<Detection[]>();
      const call: Call = { picture, caller, calledMs: performance.now(), resolve, reject };
      const abort = () => {
        // A wait that exceeds the time limit of the call is the clearest sign of overload.
        if (queue.remove(caller, call)) reportWait(performance.now() - call.calledMs, caller);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      const displaced = queue.add(caller, call);
      displaced?.reject(new DetectorBusyError(`${maxWaiting} images wait for the detector`));
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    /** Returns a call that waits. It stays in the queue. */
    peek: queue.peek,
    take: (): Call | undefined => {
      const next = queue.take();
      if (next === undefined) return undefined;
      const { caller, item } = next;
      const end = queue.begin(caller);
      return {
        ...item,
        resolve: (detections) => (end(), item.resolve(detections)),
        reject: (error) => (end(), item.reject(error)),
      };
    },
    rejectAll(error: Error): void {
      for (const call of queue.takeAll()) call.reject(error);
    },
  };
}

/** Sets a timer that does not keep the process alive. */
const setQuietTimer: SetTimer = (fire, delayMs) => {
  const timer = setTimeout(fire, delayMs).unref();
  return () => clearTimeout(timer);
};

function startNetworkThread(workerData: NetworkThreadData): NetworkThread {
  return new Worker(new URL('network-worker.ts', import.meta.url), { workerData });
}
