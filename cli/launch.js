#!/usr/bin/env node
/**
 * Starts the packed command line. Any Node can read this file: an old one names the version that it needs, and a newer
 * one warns of nothing.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 23 || (major === 22 && minor >= 16)) {
  const emit = process.emitWarning.bind(process);
  // node:sqlite is experimental in Node 22.
  process.emitWarning = (/** @type {any[]} */ ...warning) => {
    if (!String(warning[0]).includes('SQLite')) Reflect.apply(emit, process, warning);
  };
  if (process.argv[2] === 'start') await import('../dist/package/cli/limited-start.js');
  await import('../dist/package/cli/watchpost.js');
} else {
  process.stderr.write(
    `Watchpost needs Node 22.16 or newer (not 23), whose node:sqlite can search words; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 2;
}
