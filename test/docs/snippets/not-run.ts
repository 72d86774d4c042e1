import { parseCommands, type Block } from './blocks.ts';

/**
 * Commands that the test does not run, by prefix, with the reason. The shell only parses a block with such a command.
 * All other blocks run.
 */
const reasons: Record<string, string> = {
  'aws ': 'requires an AWS account',
  'until [ "$(aws ': 'requires an AWS account',
  'git ': 'would change the checkout',
  'npm ci': 'has created this checkout',
  'npm test': 'would run itself',
  'npm run demo': 'covered by test/cli',
  'npm pack ./client': 'runs in the checkout; covered by test/client/package.test.ts',
  'npm pack ./lib': 'runs in the checkout; npm run test:aws installs the packed construct',
  'npm install /tmp/watchpost-client':
    'requires a project of its own; covered by test/client/package.test.ts',
  'npm run deploy': 'requires an AWS account',
  'npx cdk diff': 'requires an AWS account',
  'npm run destroy': 'requires an AWS account; test:aws runs it on the emulator',
  'npm run rollback': 'requires an AWS account',
  'npm run smoke': 'requires an AWS account; npm run test:aws runs it on the emulator',
  'npm run conformance': 'covered by test/conformance',
  'npm run test:aws': 'runs in a separate CI job',
  'npm run bench': 'takes minutes and is meaningless on a busy machine',
  'npm run layer': 'downloads files; covered by test/layers',
  'layers/ffmpeg/build-minimal.sh': 'compiles for minutes',
  'npm run watchpost -- keys create --stack': 'requires an AWS account',
  'npm run watchpost -- restore --table':
    'requires an AWS account; test/adapters/aws/dynamodb/mark-restored.test.ts covers it',
  'npm run watchpost -- check https://': 'requires a platform on the internet',
  'ffmpeg -i http': 'records for a minute; test/cli/commands/replay.test.ts covers the replay',
  'npm run watchpost -- replay yard.mp4': 'requires a recording; test/cli/commands/replay.test.ts covers it',
  'npm run watchpost -- evaluate basic --model objects --model openai': 'requires a third-party model server',
  'npm start -- --allow-ranges 192.168.1.20':
    'requires a camera; test/cli/settings.test.ts covers the address',
  'npm run stream -- ': 'requires a recording or a camera; test/cli/commands/stream.test.ts covers it',
  'npm run watchpost -- discover': 'requires a camera; test/cli/commands/discover.test.ts covers it',
  'npm run watchpost -- doctor': 'requires a camera; test/cli/commands/doctor.test.ts covers it',
  'curl -s "$BASE/watches"': 'requires a camera; test/adapters/http/routes covers it',
  'npx ./watchpost-': 'covered by test/repository/image.test.ts',
  'claude ': 'requires a third-party client',
  'codex ': 'requires a third-party client',
  'ollama ': 'requires a third-party model server',
  'export WATCHPOST_VISION=':
    'requires a model server; test/docs/models.test.ts runs it against one of its own',
  'llama-server ': 'requires a third-party model server',
  'vllm ': 'requires a third-party model server',
  'npm start -- --vision local':
    'requires the files of a model; test/models runs it with one of random weights',
  'npm install --no-save': 'installs into this checkout',
  'npm run watchpost -- label my-set': 'requires a set of your own; test/console/pages.test.ts covers it',
  'WATCHPOST_VISION=': 'requires a third-party model; test/adapters/vision covers the protocols',
  'docker ': 'requires Docker; test/repository/image.test.ts runs the steps of the image',
  'sudo ': 'changes the machine; test/docs/self-hosting.test.ts covers the unit',
  'cd /opt': 'changes the machine',
};

/** Returns the reason why a block does not run; undefined if it runs. */
export function reasonNotToRun(block: Block): string | undefined {
  for (const command of parseCommands(block)) {
    const prefix = Object.keys(reasons).find((start) => command.startsWith(start));
    if (prefix !== undefined) return reasons[prefix];
  }
  return undefined;
}

/** Languages of blocks that are neither run nor parsed, with the reason. */
export const onlyShown: Record<string, string> = {
  '': 'sample of a log or stream',
  mermaid: 'diagram',
  yaml: 'settings of programs that the tests do not install',
  diff: 'excerpt of a source file; test/docs/add-a-feature.test.ts compares it',
  caddyfile: 'the tests do not install Caddy',
  nginx: 'the tests do not install nginx',
};
