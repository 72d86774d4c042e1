import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { MomentSearchRequest, MomentSearchResult, Watchpost } from '../../client/index.ts';
import { addService, openService } from '../target/target-options.ts';
import type { Terminal } from '../terminal.ts';
import { findWatch } from '../watches/find-watch.ts';
import { parseTime } from './watch-export.ts';

const searchOptions = z.object({
  watch: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  thorough: z.boolean().default(false),
  maxCalls: z.number().default(20),
  json: z.boolean().default(false),
});

export function addSearch(program: Command, terminal: Terminal): void {
  addService(
    program
      .command('search')
      .argument('<query>', 'what is searched, such as "a white delivery van"')
      .description('search what the watches have seen, and say what nobody saw'),
  )
    .option('--watch <watch>', 'name or id; default: all watches')
    .addOption(new Option('--from <time>', 'seen at this time or later (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--to <time>', 'seen before this time (ISO 8601)').argParser(parseTime))
    .option('--thorough', 'look at a picture of every visit, whatever its words')
    .addOption(new Option('--max-calls <number>', 'maximum model calls').argParser(parseCalls))
    .option('--json', 'print each response as a line of JSON')
    .action(async (query: string, raw: unknown) => {
      const { watch, from, to, thorough, maxCalls, json } = searchOptions.parse(raw);
      const client = await openService(raw);
      const request = {
        query,
        ...(watch !== undefined && { watch_ids: [(await findWatch(watch, client)).watch_id] }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        thorough,
        max_calls: maxCalls,
      };
      await search(request, client, terminal, json);
    });
}

/** Parses a maximum of model calls. Throws `InvalidArgumentError`. */
export function parseCalls(text: string): number {
  const calls = Number(text);
  if (!Number.isInteger(calls) || calls < 0 || calls > 100_000)
    throw new InvalidArgumentError('Use a whole number from 0 to 100000.');
  return calls;
}

/** Searches to the end, or until the calls are used up, and prints results as they arrive. */
export async function search(
  request: MomentSearchRequest,
  client: Watchpost,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  let count = 0;
  for (let cursor: string | null = null; ;) {
    const answer: MomentSearchResult = await client.searchMoments({
      ...request,
      ...(cursor !== null && { cursor }),
    });
    count += answer.results.length;
    if (asJson) terminal.print(JSON.stringify(answer));
    else for (const result of answer.results) terminal.print(formatResult(result));
    cursor = answer.next_cursor;
    if (cursor !== null && !answer.limit_reached) continue;
    if (asJson) return;
    terminal.note(count > answer.results.length ? `${count} found. ${answer.sentence}` : answer.sentence);
    if (answer.limit_reached)
      terminal.note('The model calls are used up: raise --max-calls to look further.');
    return;
  }
}

function formatResult({
  moment,
  watch_name: name,
  from,
  to,
  matched,
}: MomentSearchResult['results'][number]) {
  const time = from === to ? from : `${from} to ${to}`;
  const said = moment.scene ?? moment.verdicts.map(({ explanation }) => explanation).join(' ');
  return [
    time,
    name,
    matched === null ? 'words only' : 'seen',
    said,
    moment.picture_url ?? 'no picture',
  ].join('  ');
}
