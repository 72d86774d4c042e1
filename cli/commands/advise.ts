import { advise as adviseOn } from '../../core/advice/advise.ts';
import { forecastCost } from '../../core/advice/forecast.ts';
import { findModelPrice } from '../../adapters/vision/aws-provider-registry.ts';
import { addSettings, type Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { createVisionModel } from '../service/vision-model.ts';
import { Argument, type Command } from 'commander';
import { parseCondition, parseSettings, visionSettings, wantsJson } from '../parse-options.ts';

export function addAdvise(program: Command, terminal: Terminal): void {
  addSettings(
    program.command('advise').addArgument(new Argument('<condition>').argParser(parseCondition)),
    visionSettings,
  )
    .description('say what is doubtful about a condition, and which settings fit; asks no model')
    .option('--json', 'print the advice as JSON')
    .action(async (condition: string, raw: unknown) => {
      advise(condition, parseSettings(raw), terminal, wantsJson(raw));
    });
}

/** Prints the doubts about a condition, and settings that fit (`watchpost advise CONDITION`). Calls no model. */
export function advise(condition: string, settings: Settings, terminal: Terminal, asJson: boolean): void {
  const model = createVisionModel(settings, settings.ffmpeg);
  const { findings, suggestion } = adviseOn(condition, model.capabilities);
  const checks = {
    ...suggestion,
    judgesMoments: model.capabilities.judgesMoments,
  };
  const forecast = { model: model.model, ...forecastCost(checks, findModelPrice(model)) };
  if (asJson) return terminal.print(JSON.stringify({ findings, suggestion, forecast }));
  for (const { message } of findings) terminal.print(`- ${message}`);
  if (findings.length === 0) terminal.print('Nothing is doubtful about this condition.');
  for (const text of suggestion.conditions ?? []) terminal.print(`Suggested: "${text}"`);
  const {
    interval_seconds: interval,
    input_mode: mode,
    checks_to_open: needed,
    checks_considered: considered,
    open_after_seconds: openAfter,
  } = suggestion;
  terminal.print(
    `Check every ${interval} s, mode ${mode}; ${needed} of ${considered} checks open an alert${openAfter > 0 ? ` after ${openAfter} s (open_after_seconds)` : ''}.`,
  );
  for (const { days, from, to } of suggestion.active ?? [])
    terminal.print(`Schedule of the watch: ${days.join(', ')} from ${from} to ${to}.`);
  const { with_look_back: back } = forecast;
  terminal.print(
    `About ${forecast.model_calls_per_day} model calls a day with ${model.model}: ${inDollars(forecast.usd_per_day)}; with confirming checks and motion at most ${forecast.max_model_calls_per_day}.`,
  );
  terminal.print(
    `With look_back, the default of watches: about ${back.model_calls_per_day} calls with ${back.frames_per_day} frames: ${inDollars(back.usd_per_day)}; at most ${back.max_model_calls_per_day}.`,
  );
  terminal.print(
    `Sure to see visits of ${back.shortest_visit_seconds} s and more if the stream has a key frame every 2 s; without look_back of ${forecast.shortest_visit_seconds} s.`,
  );
}

function inDollars(usd: number | null): string {
  return usd === null ? 'an unknown price' : `$${usd.toFixed(2)}`;
}
