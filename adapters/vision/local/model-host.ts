import { VisionError } from '../../../core/vision-errors.ts';
import type { ModelLifecycle } from '../../../core/ports/vision-model.ts';
import { type SetTimer, waitUntilAborted } from '../../../core/time-limit.ts';
import type { Load, ModelAnswer, ModelRequest } from './protocol.ts';
import { type ModelProcess, type RunningModel, startModel } from './running-model.ts';

export type ModelHostDeps = {
  load: Load;
  /** Size of the files, for messages. */
  sizeBytes: number;
  /** Memory of the process above which it is replaced after a call. */
  maxMemoryBytes: number;
  steadyNowMs: () => number;
  /** Reports what happens to the process, as a sentence. */
  report?: (text: string) => void;
  setTimer?: SetTimer;
  start?: () => ModelProcess;
};

/** Model that is loaded once, and again after its process has died. */
export type ModelHost = ModelLifecycle & {
  /**
   * Makes one call. An aborted one rejects immediately; `free` resolves when the process takes the next call. One call
   * at a time. Throws `VisionError`, and the reason of an aborted signal.
   */
  call(request: ModelRequest, signal: AbortSignal): { answer: Promise<ModelAnswer>; free: Promise<void> };
};

const reportLoadingMs = 10_000;
const maxWaitMs = 300_000;

type Member = { model: RunningModel; loading: Loading };

/**
 * Runs a model in a process that may die. It starts with the first call, and again after a failure, without a call,
 * after waits that grow from 1 s to 5 minutes; calls until then fail. The process ends with this one.
 */
export function createModelHost(deps: ModelHostDeps): ModelHost {
  const { load, maxMemoryBytes, steadyNowMs, report = () => undefined, setTimer = setQuietTimer } = deps;
  let member: Member | undefined;
  let failures = 0;
  let outage: { error: VisionError; untilMs: number } | undefined;
  let cancelRestart: (() => void) | undefined;
  let isClosed = false;

  function begin(): Member {
    const model = startModel(load, setTimer, deps.start);
    const loading = reportLoading(model, { sizeBytes: deps.sizeBytes, steadyNowMs, report, setTimer });
    const begun = { model, loading };
    member = begun;
    outage = undefined;
    void model.ended.then((error) => end(begun, error));
    return begun;
  }

  function end(ended: Member, error: VisionError): void {
    ended.loading.cancel();
    if (member !== ended || isClosed) return;
    member = undefined;
    failures += 1;
    const waitMs = Math.min(1000 * 2 ** (failures - 1), maxWaitMs);
    outage = { error, untilMs: steadyNowMs() + waitMs };
    report(`${error.remediation} It starts again in ${waitMs / 1000} s.`);
    cancelRestart = setTimer(() => {
      if (member === undefined && !isClosed) begin();
    }, waitMs);
  }

  /** Ends a process in favor of another one, which the next call starts. */
  function replace(old: Member, reason: string): void {
    report(`replaced: ${reason}`);
    if (member === old) member = undefined;
    old.model.kill();
  }

  async function ready(signal: AbortSignal): Promise<Member> {
    if (isClosed) throw new VisionError('The service ends.');
    if (member === undefined && outage !== undefined && steadyNowMs() < outage.untilMs) {
      const seconds = Math.ceil((outage.untilMs - steadyNowMs()) / 1000);
      const { remediation } = outage.error;
      throw new VisionError(`${remediation} It starts again in ${seconds} s.`, {
        cause: outage.error,
        calls: [],
      });
    }
    cancelRestart?.();
    const used = member ?? begin();
    used.model.hold(true);
    try {
      await waitUntilAborted(used.model.ready, signal);
    } finally {
      used.model.hold(false);
    }
    return used;
  }

  async function exchange(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const used = await ready(signal);
    const exchanged = await used.model.exchange(request, signal);
    if (exchanged === 'stuck') {
      replace(used, 'it takes no calls any more');
      return exchange(request, signal);
    }
    failures = 0;
    const { answer, memoryBytes } = exchanged;
    if (memoryBytes > maxMemoryBytes) {
      const [taken, allowed] = [memoryBytes, maxMemoryBytes].map(formatSize);
      replace(used, `it has ${taken}, and WATCHPOST_LOCAL_MEMORY_MB allows ${allowed}`);
    }
    return answer;
  }

  return {
    prepare: async (signal) => void (await ready(signal)),

    call(request, signal) {
      const exchanged = exchange(request, signal);
      const free = exchanged.then(
        () => undefined,
        () => undefined,
      );
      return { answer: waitUntilAborted(exchanged, signal), free };
    },

    loading: () => (member === undefined || member.model.isReady() ? undefined : member.loading.describe()),

    close() {
      isClosed = true;
      cancelRestart?.();
      member?.model.kill();
    },
  };
}

/** Time that a model takes to load. */
type Loading = ReturnType<typeof reportLoading>;

type LoadingDeps = Required<Pick<ModelHostDeps, 'sizeBytes' | 'steadyNowMs' | 'report' | 'setTimer'>>;

/** Reports every 10 s that a model is being loaded, and at last how long it took. */
function reportLoading(model: RunningModel, { sizeBytes, steadyNowMs, report, setTimer }: LoadingDeps) {
  const size = formatSize(sizeBytes);
  const startedMs = steadyNowMs();
  const seconds = () => (steadyNowMs() - startedMs) / 1000;
  const describe = () => `loading ${size} for ${Math.round(seconds())} s`;
  let cancel: (() => void) | undefined;
  const reportLater = () => {
    cancel = setTimer(() => {
      if (model.isReady()) return;
      report(describe());
      reportLater();
    }, reportLoadingMs);
  };
  model.ready.then(
    () => report(`loaded ${size} in ${seconds().toFixed(1)} s`),
    () => undefined,
  );
  reportLater();
  return {
    /** Returns what is being loaded and for how long. */
    describe,
    /** Ends the reports. */
    cancel: () => cancel?.(),
  };
}

function formatSize(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Sets a timer that does not keep the process alive. */
const setQuietTimer: SetTimer = (fire, delayMs) => {
  const timer = setTimeout(fire, delayMs).unref();
  return () => clearTimeout(timer);
};
