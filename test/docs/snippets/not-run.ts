import { commandsOf } from './blocks.ts';
import type { Block } from './blocks.ts';

/**
 * What the test does not run, by how a command begins, and why. A shell block with such a command is read by the shell and not run; each other
 * block is run, so a new one that cannot be fails until it stands here.
 */
const reasons: Record<string, string> = {
  'aws ': 'needs an AWS account',
  'git ': 'would change the checkout',
  'npm ci': 'made this checkout',
  'npm test': 'would run itself',
  'npm run demo': 'runs in the tests of the command line',
  'npm run deploy': 'needs an AWS account',
  'npm run diff': 'needs an AWS account',
  'npm run destroy': 'needs an AWS account',
  'npm run conformance': 'runs in test/conformance',
  'npm run test:aws': 'runs in a job of its own',
  'npm run bench': 'takes minutes and says nothing on a busy machine',
  'npm run layer': 'downloads; runs in test/layers',
  'npm run watchpost -- keys create --stack': 'needs an AWS account',
  'npm run watchpost -- check https://': 'needs a platform on the internet',
  'claude ': 'needs a client that is not ours',
  'codex ': 'needs a client that is not ours',
  'ollama ': 'needs a model server that is not ours',
  'WATCHPOST_VISION=': 'needs a model that is not ours; test/adapters/vision has their wire',
  'docker ': 'needs Docker; test/repository/image.test.ts runs the steps of the image',
  'sudo ': 'changes the machine; test/docs/self-hosting.test.ts reads the unit',
  'cd /opt': 'changes the machine',
};

export function reasonNotToRun(block: Block): string | undefined {
  for (const command of commandsOf(block)) {
    const prefix = Object.keys(reasons).find((start) => command.startsWith(start));
    if (prefix !== undefined) return reasons[prefix];
  }
  return undefined;
}

/** Languages of blocks that are shown and neither run nor read by a program, and why. */
export const onlyShown: Record<string, string> = {
  '': 'what a log or a stream looks like',
  mermaid: 'a picture',
  caddyfile: 'Caddy is not a package that the tests bring',
  nginx: 'nginx is not a package that the tests bring',
};
