import { readdirSync, readFileSync } from 'node:fs';

const megabyte = 1024 ** 2;

/** Returns the maximum growth of this process and the memory of its largest child, in MB. Linux only; 0 elsewhere. */
export async function measurePeak(work: () => Promise<unknown>): Promise<{ own: number; child: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let [own, child] = [before, 0];
  const look = (): void => {
    own = Math.max(own, process.memoryUsage.rss());
    child = Math.max(child, maxChild());
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

function maxChild(): number {
  const children = read(`/proc/${process.pid}/task`)
    ? readdirSync(`/proc/${process.pid}/task`).flatMap((thread) =>
        text(`/proc/${process.pid}/task/${thread}/children`).trim().split(' '),
      )
    : [];
  return Math.max(0, ...children.map((pid) => peakBytes(text(`/proc/${pid}/status`))));
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
