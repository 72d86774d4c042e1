import { readFileSync } from 'node:fs';

export type ProcessorTimes = { ownMs: number; childrenMs: number };

const ticksPerSecond = 100;

/** Reads the processor time of this process and of its children (Linux): those that have ended, and those that still run, without `excluded`. */
export function readProcessorTimes(excluded: readonly (number | undefined)[]): ProcessorTimes {
  const own = process.resourceUsage();
  const ended = statFields('self').slice(13, 15);
  const running = listChildren(excluded).flatMap((pid) => statFields(pid).slice(11, 15));
  const ticks = [...ended, ...running].reduce((sum, value) => sum + value, 0);
  return {
    ownMs: (own.userCPUTime + own.systemCPUTime) / 1000,
    childrenMs: (ticks / ticksPerSecond) * 1000,
  };
}

/** Reads the fields of /proc/<pid>/stat after the name, from the third one on. */
function statFields(pid: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

function listChildren(excluded: readonly (number | undefined)[]): string[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return text.split(' ').filter((pid) => pid !== '' && !excluded.includes(Number(pid)));
}
