import { readdirSync, readFileSync } from 'node:fs';

const megabyte = 1024 ** 2;

/**
 * Returns the maximum growth of this process and the memory of the largest child that the work has started, in MB.
 * Files share a process, so children of an earlier one may still run. Linux only; 0 elsewhere.
 */
export async function measurePeak(work: () => Promise<unknown>): Promise<{ own: number; child: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const others = new Set(listChildren());
  let [own, child] = [before, 0];
  const look = (): void => {
    own = Math.max(own, process.memoryUsage.rss());
    const started = listChildren().filter((pid) => !others.has(pid));
    child = Math.max(child, ...started.map((pid) => peakBytes(text(`/proc/${pid}/status`))));
  };
  const timer = setInterval(look, 20);
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return { own: Math.round((own - before) / megabyte), child: Math.round(child / megabyte) };
}

/** Returns the process ids of the children of all threads. */
function listChildren(): string[] {
  const tasks = `/proc/${process.pid}/task`;
  if (!read(tasks)) return [];
  const children = readdirSync(tasks).flatMap((thread) => text(`${tasks}/${thread}/children`).split(' '));
  return children.filter((pid) => pid.trim() !== '');
}

function peakBytes(status: string): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

function read(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0;
  } catch {
    return false;
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
