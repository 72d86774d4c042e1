import type { Reporter, TestModule } from 'vitest/node';
import type { Tried } from './counted.ts';

/** Reporter that prints one line about the attacks that were tried. */
export class AttackLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tried = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => test.meta().tried ?? []),
    );
    if (tried.length > 0) process.stdout.write(`\n${formatLine(tried)}\n`);
  }
}

function formatLine(tried: Tried[]): string {
  const classes = new Map<string, number>();
  for (const [name, count] of tried.flatMap(({ vectors = {} }) => Object.entries(vectors)))
    classes.set(name, (classes.get(name) ?? 0) + count);
  const sum = (of: 'touched' | 'fuzzCases' | 'limits'): number =>
    tried.reduce((total, each) => total + (each[of] ?? 0), 0);
  const all = [...classes.values()].reduce((total, count) => total + count, 0);
  const byClass = [...classes].map(([name, count]) => `${name} ${count}`).join(', ');
  return [
    `attacks: ${all} vectors (${byClass})`,
    `${sum('touched')} connections to canaries`,
    `${sum('limits')} limits`,
    `${sum('fuzzCases')} fuzz cases`,
    ...tried.flatMap(({ abuse = [] }) => abuse),
  ].join('; ');
}
