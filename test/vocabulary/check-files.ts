import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPage } from './check-page.ts';
import { checkSource } from './check-source.ts';
import { remedies, type Finding, type RuleName } from './rules.ts';

/** Files that hold words which are not the project's prose, with the reason. */
const exceptions: Record<string, string> = {
  'client/openapi-types.ts': 'generated: its texts are checked where they are declared',
  'adapters/vision/prompt.ts': 'prompts are behavior of the model',
  'docs/contribute/vocabulary.md': 'lists the banned phrases',
  'test/vocabulary/rules.ts': 'lists the banned phrases',
  'test/vocabulary/check.test.ts': 'has examples of each rule',
};

export type FileFinding = { file: string; line: number; rule: RuleName; text: string };

const isForeign = (path: string) => /(?:^|\/)(?:node_modules|dist)$/.test(path);

/** Returns the findings in all sources and pages below `root`, ordered by file and line. */
export function checkFiles(root: string): FileFinding[] {
  const sources = globSync(
    [
      '{core,adapters,functions,client,cli,lib,layers,bin,bench,test,console}/**/*.{ts,tsx,js}',
      '*.config.ts',
    ],
    { cwd: root, exclude: isForeign },
  );
  const pages = globSync(['*.md', 'docs/**/*.md', 'bench/**/*.md', 'test/**/*.md', '.github/**/*.md'], {
    cwd: root,
    exclude: isForeign,
  });
  return [...sources, ...pages]
    .filter((file) => !(file in exceptions) && !file.endsWith('.d.ts'))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const findings = file.endsWith('.md') ? checkPage(text) : checkSource(file, text);
      return findings.map((found) => inFile(file, text, found));
    });
}

/** One line a finding: position, rule, text, remedy. */
export function formatFinding({ file, line, rule, text }: FileFinding): string {
  return `${file}:${line}  ${rule}  "${text}"\n    ${remedies[rule]}`;
}

/** Number of findings per rule, rules without findings included. */
export function countByRule(findings: FileFinding[]): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(Object.keys(remedies).map((rule) => [rule, 0]));
  for (const { rule } of findings) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}

function inFile(file: string, text: string, { rule, offset, text: quoted }: Finding): FileFinding {
  return { file, line: text.slice(0, offset).split('\n').length, rule, text: quoted };
}
