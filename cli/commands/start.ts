import { once } from 'node:events';
import { resolve } from 'node:path';
import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import type { Credentials } from '../credentials.ts';
import { credentialsFile } from '../credentials.ts';
import { ensureFfmpeg } from '../ensure-ffmpeg.ts';
import { runService } from '../run-service.ts';
import type { Settings } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

/** Runs the service until SIGTERM or SIGINT (`watchpost start`). Active jobs continue at the next start. */
export async function start(settings: Settings, terminal: Terminal, asJson: boolean): Promise<void> {
  const ffmpeg = await ensureFfmpeg(settings.ffmpeg, process.env, terminal);
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const { credentials, close } = await runService(settings, ffmpeg.path, {
    write: (line) => terminal.note(line),
    humanReadable: terminal.isTerminal,
  });
  if (asJson)
    terminal.print(
      JSON.stringify({ base_url: credentials.base_url, credentials_file: credentialsFile(settings.dataDir) }),
    );
  else greet(settings, credentials, ffmpeg, terminal);
  await stopped;
  terminal.note('Stopping. Active jobs continue at the next start.');
  await close();
}

function greet(
  settings: Settings,
  { base_url: baseUrl }: Credentials,
  ffmpeg: LocatedFfmpeg,
  { print, color }: Terminal,
): void {
  const file = credentialsFile(settings.dataDir);
  print(`${color.bold('Watchpost')} serves on ${color.cyan(baseUrl)}`);
  print(`  console   ${color.cyan(new URL('/console', baseUrl).href)}`);
  print(
    `  key       api_key in ${file} (readable only by you), or: npm run watchpost -- keys create --caller NAME`,
  );
  print(`  model     ${modelLine(settings)}`);
  print(`  ffmpeg    ${ffmpeg.version} (${ffmpeg.source})`);
  print(`  egress    ${egressLine(settings)}`);
  print(`  data      ${resolve(settings.dataDir)}`);
  print(
    `  try       curl -H "Authorization: Bearer $(node -p 'require("${resolve(file)}").api_key')" ${baseUrl}/jobs`,
  );
}

function modelLine({ vision, visionModel }: Settings): string {
  if (vision === 'pixel') {
    return 'built-in pixel model: measures colors, brightness and motion; not a vision-language model (set WATCHPOST_VISION)';
  }
  return visionModel === '' ? vision : `${vision}, ${visionModel}`;
}

function egressLine({ allowRanges, allowWebhookRanges }: Settings): string {
  const opened = [
    ...(allowRanges.length > 0 ? [`streams also from ${allowRanges.join(', ')}`] : []),
    ...(allowWebhookRanges.length > 0 ? [`webhooks also to ${allowWebhookRanges.join(', ')}`] : []),
  ];
  if (opened.length === 0)
    return 'public addresses only (WATCHPOST_ALLOW_RANGES adds private ranges, for cameras at home)';
  return `public addresses, ${opened.join(', ')}: any caller with a key can reach them`;
}
