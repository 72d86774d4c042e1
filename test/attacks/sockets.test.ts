import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Modules that can open connections or start programs, with the reason why they do not bypass the guard. */
const mayReachOut: Record<string, string> = {
  'adapters/egress/ask.ts': "the guarded client of HTTP, also through an operator's proxy",
  'adapters/egress/guarded-tcp.ts': 'connections of RTSP, guarded',
  'adapters/egress/guarded-udp.ts': 'to allowed addresses, and to the group of WS-Discovery',
  'adapters/embedded/names/lookups.ts': 'starts the process that resolves names',
  'adapters/embedded/names/name-process.ts': 'resolves names',
  'adapters/embedded/runs/word-reader.ts': 'starts the thread that searches moments',
  'adapters/embedded/runs/word-worker.ts': 'the thread that searches moments, without network',
  'adapters/egress/host.ts': 'isIP only',
  'adapters/egress/guard.ts': 'resolves names',
  'adapters/egress/egress-error.ts': 'names of errors only',
  'adapters/media/ffmpeg/spawn-ffmpeg.ts':
    'starts ffmpeg, with an empty environment and white lists of protocols',
  'adapters/media/ffmpeg/locate-ffmpeg.ts': 'reads the version of ffmpeg',
  'adapters/media/rtsp/rtsp-relay.ts': 'listens on loopback for ffmpeg, connects nowhere',
  'adapters/recordings/read-frames.ts':
    "starts ffmpeg on an operator's recordings, with an empty environment",
  'adapters/recordings/played-frames.ts':
    "starts ffmpeg on an operator's recordings, with an empty environment",
  'adapters/vision/local/model-process.ts':
    'the process of the local model: imports its library by name, without network',
  'adapters/vision/local/running-model.ts':
    'starts the process of the local model; names the type of its output',
  'adapters/vision/objects/network-worker.ts': 'the thread of the object model, without network',
  'adapters/vision/objects/thread-detector.ts': 'starts the thread of the object model',
  'bin/run.ts': 'runs the parts of a command of developers',
  'adapters/aws/lookup.ts': 'asks the name servers of a function, for the guard',
  'bin/build-package.ts': 'runs the build of the package of a release',
  'lib/bundle/build-construct.ts': 'compiles the construct, before its publication',
  'bin/stage-command.ts': 'starts the CDK for a deployment or a teardown',
  'bin/preflight.ts': 'runs the cost command, before deployment',
  'cli/checks/private-address.ts': 'resolves names',
  'cli/commands/demo.ts': 'the demo: listens',
  'cli/commands/doctor.ts': 'to the vision server that the operator has set',
  'cli/demo/live-hls.ts': 'the demo: starts ffmpeg and listens',
  'cli/ensure-ffmpeg.ts': "installs ffmpeg with the operator's consent",
  'cli/service/http-server.ts': 'listens: the service itself; distinguishes addresses from names',
  'cli/service/vision-model.ts': 'to the vision server that the operator has set',
  'cli/target/operator.ts': 'the service that an operator names, by the client, with a time limit',
  'client/transport.ts': 'the client library, to the service that its user names',
  'layers/ffmpeg/packaged-binary.ts': 'starts pip, before deployment',
  'layers/ffmpeg/build-layer.ts': 'builds the layer, before deployment',
  'lib/operations/smoke/helper-stack.ts': 'the smoke test of a deployment, to the stack that it created',
};

const folders = ['core', 'adapters', 'functions', 'cli', 'lib', 'bin', 'layers', 'client'];
const reaching =
  'net|http|https|http2|tls|dgram|dns|dns/promises|child_process|cluster|worker_threads|inspector|vm|wasi';
/** Ignores type imports. A linter rule forbids the global `fetch`. */
const importPattern = new RegExp(
  `(?:^|\\n)import (?!type )(?!\\{ type [^,}]* \\})[^;]*from '(?:(?:node:)?(?:${reaching})|undici|ws|axios|got|node-fetch|eventsource)'`,
);
const globals = /\bnew (?:WebSocket|EventSource|XMLHttpRequest)\(|globalThis\.fetch|import\((?!')/;

test('only listed modules open connections or start programs, each with a reason', async () => {
  const reachOut: string[] = [];
  for (const folder of folders) {
    const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
    for (const name of names.filter((each) => /\.[cm]?[jt]s$/.test(each) && !/(^|\/)dist\//.test(each))) {
      const path = join(folder, name);
      const text = await readFile(path, 'utf8');
      if (importPattern.test(text) || globals.test(text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')))
        reachOut.push(path);
    }
  }
  expect(reachOut.toSorted()).toEqual(Object.keys(mayReachOut).toSorted());
});
