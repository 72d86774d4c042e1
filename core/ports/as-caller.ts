/** Does work in the name of a caller: what all callers share then serves them in turn. */
export type AsCaller = <Result>(caller: string, work: () => Promise<Result>) => Promise<Result>;

const behind = '(behind checks) ';

/** Returns the name under which work of a caller waits for the checks of all. No caller can have it. */
export function behindChecks(caller: string): string {
  return `${behind}${caller}`;
}

export function isBehindChecks(name: string): boolean {
  return name.startsWith(behind);
}
