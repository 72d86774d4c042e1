import { expect, test } from 'vitest';
import { addSearch, search } from '../../../cli/commands/search.ts';
import { createClient, type MomentSearchResult } from '../../../client/index.ts';
import { searchResult } from '../../../adapters/openapi/examples/moments.ts';
import { runCommand } from '../../support/run-command.ts';

/** Searches a service with these answers. Returns what is printed, and the bodies of the requests. */
async function run(answers: Partial<MomentSearchResult>[], asJson = false) {
  const sent: any[] = [];
  const client = createClient({
    baseUrl: 'http://service.example/api',
    apiKey: 'wp_1',
    fetch: async (url, init) => {
      sent.push(await new Request(url, init).json());
      return Response.json({ ...searchResult, ...answers[sent.length - 1] });
    },
  });
  const found = await runCommand((program, terminal) => {
    program
      .command('find')
      .action(async () => search({ query: 'a van', max_calls: 20 }, client, terminal, asJson));
  }, 'find');
  return { ...found, sent };
}

test('a search prints results as they arrive, continues to the end, and says what nobody saw', async () => {
  const { stdout, stderr, sent } = await run([{ next_cursor: 'more' }, { results: [] }]);
  expect(sent.map(({ cursor }) => cursor)).toEqual([undefined, 'more']);
  expect(stdout).toMatch(
    /^2026-03-01T12:04:10.000Z to \S+ {2}Gate {2}seen {2}A white delivery van .*picture\n$/,
  );
  expect(stderr).toContain('1 found.');
  expect(stderr).toContain('not seen Sun 1 Mar 02:10 to 03:55 (UTC): camera lost.');
});

test('a search ends when its calls are used up, and prints JSON on request', async () => {
  const used = { next_cursor: 'more', limit_reached: true };
  const { stderr, sent } = await run([used]);
  expect(sent).toHaveLength(1);
  expect(stderr).toContain('raise --max-calls');
  const { stdout } = await run([used], true);
  expect(JSON.parse(stdout)).toMatchObject(used);
});

test('an invalid number of calls is refused', async () => {
  await expect(runCommand(addSearch, 'search', 'a van', '--max-calls', 'x')).rejects.toMatchObject({
    stderr: expect.stringContaining('whole number'),
  });
});
