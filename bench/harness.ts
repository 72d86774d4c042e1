import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { ensureFfmpeg } from '../cli/ensure-ffmpeg.ts';
import { openTerminal } from '../cli/terminal.ts';

/** Finds ffmpeg as the service does. */
export function findFfmpeg(): Promise<LocatedFfmpeg> {
  return ensureFfmpeg(process.env['WATCHPOST_FFMPEG'] ?? '', process.env, openTerminal(process.env));
}

const loadBefore = loadavg()[0];

/** Describes the machine, with its load before this process began and now. */
export function describeMachine(ffmpeg?: LocatedFfmpeg): string {
  const day = new Date().toISOString().slice(0, 10);
  const version = ffmpeg === undefined ? '' : `, ffmpeg ${ffmpeg.version} at ${ffmpeg.path}`;
  const load = `load ${loadBefore?.toFixed(1)} before, ${loadavg()[0]?.toFixed(1)} after`;
  return `${day}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}${version}; ${load}`;
}

/**
 * Starts a script of this folder as a process of its own, whose processor time does not count, and waits for its first
 * message.
 */
export async function startProcess(script: string, ...args: string[]) {
  const child = fork(join(import.meta.dirname, script), args);
  const ended = once(child, 'exit');
  const readMessage = async () => {
    const early = ended.then(() => Promise.reject(new Error(`${script} has ended.`)));
    const [message] = await Promise.race([once(child, 'message'), early]);
    return message;
  };
  await readMessage();
  return {
    /** Sends a message and returns the response. */
    ask: <Response>(message: object): Promise<Response> => {
      child.send(message);
      return readMessage();
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await ended;
    },
  };
}

/**
 * Returns a function that returns the processor time used since then, by this process and by its children, except those
 * of Node, which serve streams (Linux).
 */
export function startProcessorClock(): () => { ownMs: number; childrenMs: number; usedMs: number } {
  const [ownCpu, children] = [process.cpuUsage(), childrenCpuMs()];
  return () => {
    const { user, system } = process.cpuUsage(ownCpu);
    const [ownMs, childrenMs] = [(user + system) / 1000, childrenCpuMs() - children];
    return { ownMs, childrenMs, usedMs: ownMs + childrenMs };
  };
}

/**
 * Reads the processor time of children from `/proc`: of those that ended, and of those that run. The unit is ticks of
 * 10 ms, but the kernel keeps the sums exactly: the mean over many runs is exact, a single run is not. Throws an error
 * without `/proc`.
 */
export function childrenCpuMs(proc = '/proc', parent = process.pid): number {
  const ended = readStat(proc, parent);
  if (ended === null)
    throw new Error(`Processor time of children needs ${proc}/${parent}/stat. Use Linux for this benchmark.`);
  const running = listChildren(proc, parent).map(({ stat }) => sumFields(stat, [11, 12]));
  return running.reduce((sum, ticks) => sum + ticks, sumFields(ended, [13, 14])) * 10;
}

/** Reads the resident memory of this process and of its children, in megabytes (Linux). */
export function readResidentMb(): { own: number; children: number } {
  const pages = listChildren('/proc', process.pid).reduce((sum, { stat }) => sum + sumFields(stat, [21]), 0);
  return { own: Math.round(process.memoryUsage.rss() / 1e6), children: Math.round((pages * 4096) / 1e6) };
}

/**
 * Lists the children that are not of Node. Many kernels have no list of children in `/proc`, so all processes are read.
 */
function listChildren(proc: string, parent: number): { stat: number[] }[] {
  return readdirSync(proc).flatMap((pid) => {
    const stat = /^\d+$/.test(pid) ? readStat(proc, pid) : null;
    return stat?.[1] === parent && !runsNode(proc, pid) ? [{ stat }] : [];
  });
}

/** Returns the fields of `/proc/PID/stat` after the name, or null if the process has ended. */
function readStat(proc: string, pid: string | number): number[] | null {
  try {
    const text = readFileSync(`${proc}/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(') ') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return null;
  }
}

function sumFields(stat: readonly number[], fields: readonly number[]): number {
  return fields.reduce((sum, field) => sum + (stat[field] ?? 0), 0);
}

function runsNode(proc: string, pid: string): boolean {
  try {
    return readlinkSync(`${proc}/${pid}/exe`) === process.execPath;
  } catch {
    return false;
  }
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}
