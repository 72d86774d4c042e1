import { Option, type Command } from 'commander';
import { z } from 'zod';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { between, parseSettings } from './parse-options.ts';

/** Adds `watchpost stream`. */
export function addStream(program: Command, terminal: Terminal): void {
  addSettings(program.command('stream [video]'), ['ffmpeg'])
    .description(
      'serve a live test stream: a yard in which a red stop sign arrives and leaves, a recording in a loop, or a camera of this machine such as /dev/video0',
    )
    .addOption(
      new Option('--port <port>', 'port of the stream; 0 selects a free port')
        .default(9000)
        .argParser(between(0, 65_535)),
    )
    .action(async (video: string | undefined, raw: unknown) => {
      const { port, ffmpeg } = z.object({ port: z.number(), ffmpeg: z.string().optional() }).parse(raw);
      const { stream } = await import('../commands/stream.ts');
      await stream({ port, video, ffmpeg: parseSettings({ ffmpeg }).ffmpeg }, terminal);
    });
}
