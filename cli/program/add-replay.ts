import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { inputModeSchema, type InputMode } from '../../core/records/capture.ts';
import { addSettings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import {
  append,
  between,
  parseCondition,
  parseMode,
  parseSettings,
  upTo,
  visionSettings,
  wantsJson,
} from './parse-options.ts';

const replayOptions = z.object({
  condition: z.array(z.string()).default([]),
  conditions: z.string().optional(),
  watch: z.string().optional(),
  interval: z.number().optional(),
  mode: inputModeSchema.optional(),
  clipSeconds: z.string().optional(),
  prefilter: z.boolean(),
  camera: z.string().optional(),
  sweep: z.object({ intervals: z.array(z.number()), modes: z.array(inputModeSchema) }),
  report: z.string().optional(),
  saveSet: z.string().optional(),
  cache: z.boolean(),
});

/** Adds `watchpost replay`. */
export function addReplay(program: Command, terminal: Terminal): void {
  addSettings(program.command('replay <file...>'), ['ffmpeg', ...visionSettings])
    .description('play recordings as if they were live, and print the alerts that a watch would have opened')
    .option('--condition <text>', 'condition to check; repeatable', append)
    .option('--conditions <file>', 'file with one condition per line')
    .option('--watch <file>', 'file with a watch (JSON or YAML), as for POST /watches')
    .addOption(
      new Option('--interval <seconds>', 'seconds between checks; default: of the watch, or 10').argParser(
        between(1, 300),
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'input of the model; default: of the watch, or frames').choices(
        inputModeSchema.options,
      ),
    )
    .addOption(
      new Option('--clip-seconds <seconds>', 'length of the clip in seconds, 1 to 10').choices(upTo(10)),
    )
    .option('--no-prefilter', 'check every capture, also without motion')
    .option('--camera <name>', "one of the cameras in Frigate's folders")
    .addOption(
      new Option('--sweep <settings...>', 'compare settings, such as: interval=5,10,30 mode=frames,clip')
        .default({ intervals: [], modes: [] }, 'none')
        .argParser(parseSweep),
    )
    .option('--report <file>', 'write an HTML page with time line and pictures')
    .option('--save-set <folder>', 'save judged frames and verdicts as a set to label')
    .option('--no-cache', 'repeat model calls for frames with a stored verdict')
    .option('--json', 'print the result as JSON')
    .action(async (files: string[], raw: unknown) => {
      const parsed = replayOptions.parse(raw);
      const { condition, conditions, watch, clipSeconds, prefilter, sweep, ...rest } = parsed;
      const { interval, mode, camera, report, saveSet, cache } = rest;
      const { replay } = await import('../commands/replay.ts');
      await replay(
        {
          files,
          conditions: condition.map(parseCondition),
          conditionsFile: conditions,
          watchFile: watch,
          interval,
          mode,
          clipSeconds: clipSeconds === undefined ? undefined : Number(clipSeconds),
          prefilter: prefilter ? undefined : false,
          camera,
          sweep,
          report,
          saveSet,
          cache,
        },
        parseSettings(raw),
        terminal,
        wantsJson(raw),
      );
    });
}

type Sweep = { intervals: number[]; modes: InputMode[] };

/** Adds `interval=5,10` or `mode=frames,clip` to a sweep. Throws `InvalidArgumentError`. */
function parseSweep(setting: string, before: Sweep): Sweep {
  const [name, list = ''] = setting.split('=', 2);
  if (name === 'interval')
    return { ...before, intervals: [...before.intervals, ...list.split(',').map(between(1, 300))] };
  if (name === 'mode') return { ...before, modes: [...before.modes, ...list.split(',').map(parseMode)] };
  throw new InvalidArgumentError('Use --sweep interval=5,10,30 mode=frames,clip.');
}
