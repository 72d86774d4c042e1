import { readFileSync } from 'node:fs';

/**
 * Prints the section of CHANGELOG.md for a tag (`node test/repository/release-notes-process.ts v1.2.3`). Ends with exit
 * code 1 if the tag differs from the version of a package, or if the changelog has no such section.
 */

const tag = process.argv[2] ?? '';
const version = tag.replace(/^v/, '');
const packages = ['package.json', 'client/package.json', 'lib/package.json'];
const versions = packages.map((file) => JSON.parse(readFileSync(file, 'utf8')).version);
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
const section = sections.find((text) => text.startsWith(`[${version}] - `));

if (!/^v\d+\.\d+\.\d+$/.test(tag)) fail(`The tag "${tag}" is no version. Use vX.Y.Z.`);
else if (versions.some((each) => each !== version))
  fail(
    `The tag is ${tag}, but ${packages.join(' and ')} have ${versions.join(' and ')}. Set all versions to ${version}.`,
  );
else if (section === undefined)
  fail(`CHANGELOG.md has no section "## [${version}] - date". Rename "Unreleased" to it.`);
else process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
