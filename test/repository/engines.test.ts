import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Lock = { packages: Record<string, { engines?: { node?: string } }> };

test('npm ci prints no engine warning on Node 20, since no package requires a newer Node', () => {
  const { packages }: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const refusing = Object.entries(packages).filter(([, { engines }]) => !acceptsNode20(engines?.node ?? '*'));
  expect(refusing.map(([name]) => name)).toEqual([]);
});

/** Compares the lower bound of each alternative; `^21` and `>=22` alone refuse Node 20. */
function acceptsNode20(range: string): boolean {
  return range.split('||').some((alternative) => {
    const [, operator = '', major = '0'] = /(>=|\^|~|)\s*v?(\d+)/.exec(alternative) ?? [];
    return operator === '>=' || alternative.trim() === '*' ? Number(major) <= 20 : Number(major) === 20;
  });
}

test('git has the commands of the package as executables, since npm ci makes them executable', () => {
  const { bin }: { bin: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));
  const listed = execFileSync('git', ['ls-files', '--stage', ...Object.values(bin)], { encoding: 'utf8' });
  const modes = listed
    .trim()
    .split('\n')
    .map((line) => line.slice(0, 6));
  expect(modes).toEqual(Object.values(bin).map(() => '100755'));
});
