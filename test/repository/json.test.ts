import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Reads JSON or a whole body. */
const reading = /\b(?:JSON\.parse|parseJson)\(|(?<!\bz)\.(?:text|json|arrayBuffer|blob)\(\)/;

const counted = 'a stranger, whose text is counted before (`adapters/json-limits.ts`)';
const own = 'what this service wrote';
const operator = 'a setting or file of the operator';

/** Writer of what a module reads. Text of strangers is bounded in bytes, levels and values before it is parsed. */
const writers: Record<string, string> = {
  'adapters/aws/dynamodb/runs/alert-item.ts': own,
  'adapters/aws/dynamodb/runs/run-commit.ts': own,
  'adapters/aws/dynamodb/table/record.ts': own,
  'adapters/aws/execution-state.ts': own,
  'adapters/aws/function-settings.ts': operator,
  'functions/api/handler.ts': own,
  'adapters/aws/invoke/create-invoke.ts': own,
  'adapters/aws/platform-secret.ts': operator,
  'adapters/aws/recent-log.ts': own,
  'adapters/destinations/http-sender.ts': 'a receiver, whose answer the sender cuts at its limit of bytes',
  'adapters/destinations/discord/discord.ts':
    'a receiver, whose answer the sender cuts at its limit of bytes',
  'adapters/destinations/telegram/telegram.ts':
    'a receiver, whose answer the sender cuts at its limit of bytes',
  'adapters/embedded/console-addresses.ts': own,
  'adapters/embedded/queue/delivery-queue.ts': own,
  'adapters/embedded/sqlite/record.ts': own,
  'adapters/http/validate-request.ts': counted,
  'adapters/mcp/mount-mcp.ts': counted,
  'adapters/mcp/mcp-server.ts': own,
  'adapters/platforms/twitch/resolve-twitch.ts':
    'a stranger, whose answer `platform-request.ts` counts before',
  'adapters/vision/extract-json.ts': 'the model, whose answer is counted before',
  'adapters/vision/objects/network-graph.ts': operator,
  'adapters/vision/openai/openai-vision.ts': 'the model, whose answer is counted before',
  'adapters/vision/openai/post-with-retry.ts': counted,
  'core/evaluation/labelled-set.ts': operator,
  'core/parse-json.ts': 'those of its callers, which are here too',
  'core/memory/search-cursor.ts': 'a caller, whose request `validate-request.ts` has counted',
  'functions/deliver/handler.ts': own,
};

test('each module that parses JSON or reads a whole body names who wrote it, and text of strangers is bounded', () => {
  const files = ['core', 'adapters', 'functions'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const read = (file: string) =>
    readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
  const found = files.filter((file) => file.endsWith('.ts') && reading.test(read(file)));
  expect(found.toSorted()).toEqual(Object.keys(writers).toSorted());
  const uncounted = found.filter(
    (file) => writers[file] === counted && !read(file).includes('exceedsJsonLimits('),
  );
  expect(uncounted).toEqual([]);
});
