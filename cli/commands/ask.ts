import { Option, type Command } from 'commander';
import { z } from 'zod';
import { addService, openService } from '../target/target-options.ts';
import type { Terminal } from '../terminal.ts';
import { findWatch } from '../watches/find-watch.ts';
import { parseTime } from './watch-export.ts';

const askOptions = z.object({
  watch: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  json: z.boolean().default(false),
});

export function addAsk(program: Command, terminal: Terminal): void {
  addService(
    program
      .command('ask')
      .argument('<question>', 'such as "Did a parcel come today?"')
      .description('answer a question by what the watches remember, and say what nobody saw'),
  )
    .option('--watch <watch>', 'name or id; default: all watches')
    .addOption(new Option('--from <time>', 'seen at this time or later (ISO 8601)').argParser(parseTime))
    .addOption(new Option('--to <time>', 'seen before this time (ISO 8601)').argParser(parseTime))
    .option('--json', 'print the response as JSON')
    .action(async (question: string, raw: unknown) => {
      const { watch, from, to, json } = askOptions.parse(raw);
      const client = await openService(raw);
      const answer = await client.askMoments({
        question,
        ...(watch !== undefined && { watch_ids: [(await findWatch(watch, client)).watch_id] }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      });
      if (json) {
        terminal.print(JSON.stringify(answer));
        return;
      }
      if (!answer.answered) terminal.print(answer.answer);
      for (const { text, moments } of answer.statements) {
        terminal.print(text);
        for (const { at, picture_url: url } of moments) terminal.print(`  ${at}  ${url ?? 'no picture'}`);
      }
      terminal.note(answer.sentence);
    });
}
