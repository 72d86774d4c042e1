import type { Reporter, TestModule } from 'vitest/node';

/** Vitest reporter that prints a last line: `N passed, N failed`. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string) => states.filter((each) => each === state).length;
    const failed =
      count('failed') + modules.filter((module) => module.errors().length > 0).length + errors.length;
    const skipped = count('skipped');
    process.stdout.write(
      `\n${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    );
  }
}
