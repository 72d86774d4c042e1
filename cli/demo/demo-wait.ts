import { availableParallelism } from 'node:os';

/** Seconds without a check or an event after which the demo ends. */
export const quietSeconds = 60;
/** Seconds after which the demo ends in any case. */
const maxSeconds = 900;
/**
 * Seconds after which the demo says why it waits, and between two such lines. The demo takes 30 s on an idle machine.
 */
const patientSeconds = 45;

type WaitDeps = {
  nowMs: () => number;
  /** Load of the machine in the last minute. */
  load: () => number;
};

/** Wait of the demo for its alerts: as long as checks or events arrive. */
export class DemoWait {
  readonly #deps: WaitDeps;
  readonly #startedMs: number;
  #newsMs: number;
  #saidMs: number;

  constructor(deps: WaitDeps) {
    this.#deps = deps;
    this.#startedMs = deps.nowMs();
    this.#newsMs = this.#startedMs;
    this.#saidMs = this.#startedMs;
  }

  /**
   * Notes the number of new checks and events. Returns true in `ends` after a long silence, and from time to time the
   * reason for the wait.
   */
  next(news: number): { ends: boolean; reason?: string } {
    const nowMs = this.#deps.nowMs();
    if (news > 0) this.#newsMs = nowMs;
    const quiet = (nowMs - this.#newsMs) / 1000;
    const waited = Math.round((nowMs - this.#startedMs) / 1000);
    if (quiet >= quietSeconds || waited >= maxSeconds) return { ends: true };
    if (nowMs - this.#saidMs < patientSeconds * 1000) return { ends: false };
    this.#saidMs = nowMs;
    const cores = availableParallelism();
    const load = this.#deps.load();
    const cause = load > cores ? 'The machine is busy' : 'Checks take long';
    return {
      ends: false,
      reason: `${cause} (load ${load.toFixed(1)} on ${cores} cores). Waiting since ${waited} s, last check ${Math.round(quiet)} s ago.`,
    };
  }
}
