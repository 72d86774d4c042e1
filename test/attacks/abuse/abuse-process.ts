import { runAbuse, runCameraAbuse, runParserAbuse, type SceneResult } from './abuse.ts';
import { parserScenes } from './parser-scenes.ts';

/**
 * Measures what one key can do to a service: the worst input of each parser for 20 s, or of one; a number of creations
 * beside another caller, in 512 MB; for a minute ten hostile cameras beside it. Ends with 1 if memory, or the p99 of
 * `/healthz` or of the other caller, exceeds its goal, or the service has ended.
 * Usage: npm run bench -- abuse [playlist|mpeg-ts|mp4|jpeg|multipart|sdp|rtp|http|xml|mcp|cameras|10000]
 */

const goals = { memory: 512, memoryAbove: 300, p99Ms: 250 };
const sceneSeconds = 20;

const [, , chosen] = process.argv;
const scenes = chosen === undefined ? Object.keys(parserScenes) : chosen in parserScenes ? [chosen] : [];
const results: SceneResult[] = [];
for (const scene of scenes) {
  results.push(await runParserAbuse(scene, sceneSeconds));
  console.log(JSON.stringify(results.at(-1)));
}
const isMet =
  scenes.length > 0
    ? results.every(
        ({ p99Ms, memory, isAlive }) => isAlive && p99Ms <= goals.p99Ms && memory <= goals.memoryAbove,
      )
    : await isCallerUnharmed();
console.log(isMet ? 'met' : 'missed');
process.exitCode = isMet ? 0 : 1;

async function isCallerUnharmed(): Promise<boolean> {
  const result =
    chosen === 'cameras' ? await runCameraAbuse(60) : await runAbuse({ creations: Number(chosen) });
  console.log(JSON.stringify(result, undefined, 2));
  const { before, meanwhile } = result.neighbor;
  console.log(
    `memory ${result.memory.peak} MB (goal ${goals.memory}), p99 of another caller ${meanwhile.p99Ms} ms (goal ${goals.p99Ms}, alone ${before.p99Ms})`,
  );
  return result.memory.peak < goals.memory && meanwhile.p99Ms <= goals.p99Ms;
}
