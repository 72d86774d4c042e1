import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import type { CallExpression, Expression, Function as FunctionNode, Node, Program } from 'oxc-parser';
import { expect, test } from 'vitest';

/**
 * Callbacks of sockets, timers, child processes and emitters. What one of them throws reaches no `try` of its opener
 * and ends the process, so each is one of: contained (`contained`, or a body that is one `try`), total (it only settles
 * promises, closes, counts and looks up, on objects of the language and of Node), or listed here with its reason.
 */

const root = join(import.meta.dirname, '../..');

/**
 * Callbacks that are neither contained nor total, by file, place and how often, with the reason why they do not throw
 * on what a stranger sends.
 */
const reviewed: Record<string, string> = {
  'adapters/aws/dynamodb/callers/permits.ts setTimer, 2 times': 'catches what its write rejects with',
  'adapters/aws/http/response-stream.ts new Readable': 'catches what its source throws',
  'adapters/aws/limit-event-sessions.ts addEventListener abort': 'settles a promise',
  'adapters/destinations/mqtt/publish.ts new Transform': 'counts bytes and reads the first one',
  'adapters/destinations/mqtt/publish.ts on close': 'destroys a stream',
  'adapters/destinations/mqtt/publish.ts on error': 'destroys a stream',
  'adapters/egress/guarded-http.ts on data': 'counts bytes and destroys a body',
  'adapters/egress/guarded-http.ts setTimeout': 'destroys a body',
  'adapters/egress/lenient-http.ts addEventListener abort': 'destroys a socket',
  'adapters/egress/lenient-http.ts new Readable, 2 times': 'passes on what a generator yields, and its error',
  'adapters/egress/lenient-http.ts once close': 'removes a listener',
  'adapters/egress/read-body.ts new Transform': 'counts bytes',
  'adapters/embedded/load/contain-exceptions.ts on uncaughtException':
    'ends the process for what is not contained',
  'adapters/embedded/load/fair-turns.ts addEventListener abort': 'rejects a request that waits',
  'adapters/embedded/load/fair-turns.ts setTimer': 'rejects a request that waits',
  'adapters/embedded/load/measure-lateness.ts setTimer, 2 times': 'measures a clock',
  'adapters/embedded/log/log-signals.ts addEventListener abort': 'wakes readers',
  'adapters/embedded/log/log-signals.ts setTimer': 'wakes readers',
  'adapters/embedded/names/lookups.ts on error': 'ends its process and rejects lookups',
  'adapters/embedded/names/lookups.ts on exit': 'ends its process and rejects lookups',
  'adapters/embedded/names/lookups.ts setTimer': 'ends a process',
  'adapters/embedded/names/name-process.ts on disconnect': 'in a process of its own, whose end is an event',
  'adapters/embedded/names/name-process.ts on message': 'in a process of its own, whose end is an event',
  'adapters/embedded/queue/delivery-queue.ts setTimer': 'work on a message catches its errors',
  'adapters/embedded/runs/word-reader.ts on message': 'settles the promises of searches',
  'adapters/embedded/runs/word-worker.ts on message': 'in a thread of its own, whose failure is an event',
  'adapters/embedded/scheduler/clock.ts setTimer, 2 times': 'compares times',
  'adapters/embedded/scheduler/tick-loop.ts setTimer': 'settles a promise',
  'adapters/embedded/sqlite/group-commit.ts setImmediate': 'rejects its waiting writes',
  'adapters/embedded/sqlite/group-commit.ts new FinalizationRegistry':
    'closes a file that it has opened itself',
  'adapters/http/app.ts on, 2 times': 'a route of Hono, which catches',
  'adapters/http/sse/job-messages.ts setImmediate': 'forgets a message',
  'adapters/media/ffmpeg/decoder-pool.ts setTimeout': 'closes a process',
  'adapters/media/ffmpeg/decoder-process.ts on error': 'kills its process',
  'adapters/media/ffmpeg/ffmpeg-pool.ts setImmediate': 'starts a process: its failure is an event',
  'adapters/media/ffmpeg/ffmpeg-pool.ts setTimeout, 2 times': 'starts a process: its failure is an event',
  'adapters/media/ffmpeg/image-pool.ts setTimeout': 'closes a process',
  'adapters/media/ffmpeg/image-pool.ts on error, 3 times': 'kills its process',
  'adapters/media/ffmpeg/spawn-ffmpeg.ts on close': 'settles a promise',
  'adapters/media/ffmpeg/spawn-ffmpeg.ts on drain': 'settles a promise',
  'adapters/media/rtsp/connection/describe.ts addEventListener abort': 'closes a connection',
  'adapters/media/rtsp/connection/connection-turns.ts setTimer': 'closes a connection',
  'adapters/media/rtsp/connection/http-tunnel.ts addEventListener abort': 'closes sockets',
  'adapters/media/rtsp/connection/http-tunnel.ts new Duplex, 3 times':
    'writes to a socket, whose failure is an event',
  'adapters/media/rtsp/connection/http-tunnel.ts on data':
    'hands bytes to a stream, whose failure is an event',
  'adapters/media/rtsp/connection/rtsp-client.ts on close': 'rejects requests',
  'adapters/media/rtsp/connection/rtsp-client.ts on error': 'rejects requests',
  'adapters/media/rtsp/connection/rtsp-client.ts setTimeout': 'rejects a request',
  'adapters/media/rtsp/connection/track-setup.ts setInterval': 'catches what the request rejects with',
  'adapters/media/rtsp/connection/track-setup.ts setTimeout': 'closes a connection',
  'adapters/media/rtsp/rtsp-relay.ts listen 0': 'reads the own port',
  'adapters/media/rtsp/rtsp-relay.ts on close': 'closes connections',
  'adapters/media/rtsp/rtsp-relay.ts on connection': 'sets handlers, of which the one for data is contained',
  'adapters/media/rtsp/session/open-sessions.ts setTimer': 'closes a session',
  'adapters/vision/local/model-host.ts setTimer, 2 times': 'starts a process: its failure is an event',
  'adapters/vision/local/model-process.ts on disconnect': 'in a process of its own, whose end is an event',
  'adapters/vision/local/model-process.ts on message': 'in a process of its own, whose end is an event',
  'adapters/vision/local/model-process.ts send, 2 times': 'in a process of its own, whose end is an event',
  'adapters/vision/local/running-model.ts addEventListener abort': 'sends to its process',
  'adapters/vision/local/running-model.ts on data': 'keeps the end of a text',
  'adapters/vision/local/running-model.ts on error': 'rejects calls',
  'adapters/vision/local/running-model.ts on exit': 'rejects calls',
  'adapters/vision/local/running-model.ts setTimer': 'kills a process',
  'adapters/vision/objects/network-worker.ts on message': 'in a thread of its own, whose failure is an event',
  'adapters/vision/objects/thread-detector.ts addEventListener abort': 'rejects a call',
  'adapters/vision/objects/thread-detector.ts on error': 'rejects calls',
  'adapters/vision/objects/thread-detector.ts on exit': 'rejects calls',
  'adapters/vision/objects/thread-detector.ts on message': 'rejects a message of another call',
  'adapters/vision/objects/thread-detector.ts setTimer': 'ends a thread',
  'cli/service/senders.ts setTimer': 'catches and logs',
  'cli/service/http-server.ts createServer': 'the listener of Hono, which catches',
  'cli/service/http-server.ts on clientError': 'writes a fixed text',
  'cli/service/http-server.ts on request': 'counts responses',
  'cli/service/maintenance.ts setTimer, 2 times': 'catches and logs',
  'cli/temporary-folder.ts on exit': 'at the end of the process',
  'cli/temporary-folder.ts prependListener': 'at the end of the process',
  'core/observability/model-status.ts setTimer': 'catches what the model throws',
  'core/time-limit.ts setTimer': 'settles a promise with what it throws',
};

/** The service and its functions: not commands, which end with their first error. */
const files = globSync('{adapters,core,functions,cli}/**/*.ts', {
  cwd: root,
  exclude: ['cli/{commands,demo,evaluate,replay,target}/**', 'cli/terminal.ts', 'adapters/recordings/**'],
});

/** Methods that register a callback for later, whose arguments may be callbacks. */
const registering = new Set(
  'on once addListener prependListener prependOnceListener addEventListener setTimeout setInterval setImmediate setTimer queueMicrotask nextTick createServer createSocket createConnection connect listen bind send write end execFile exec fork spawn lookup pipeline finished'.split(
    ' ',
  ),
);

/** Methods whose second argument is a callback, wherever it is declared. */
const listening = /^(?:on|once|(?:add|prepend)\w*Listener)$/;

/** Calls that do not throw for any input, or only for arguments that the source fixes. */
const total = new Set(
  'resolve reject abort destroy close kill terminate unref clear delete set get has add push shift pause resume clearTimeout clearInterval now removeEventListener off removeAll raw String Number Boolean min max values isPaused'.split(
    ' ',
  ),
);

/** Objects of the language and of Node, whose methods of these names are meant: those of this project may throw. */
const platformTypes =
  /^(?:Readonly)?(?:Map|Set|WeakMap|WeakSet|AbortController|AbortSignal|PromiseWithResolvers|Socket|Duplex|ChildProcess|Worker|Readable|IncomingMessage|FinalizationRegistry)\b|\[\]$/;
const platformMakers = /^(?:withResolvers|createServer|createSocket|connect|spawn|fork)$/;
const platformObjects = ['Number', 'String', 'Math', 'Date', 'performance', 'process'];
/** Constructors that do not throw for any input. */
const totalConstructors = /^(?:Date|Map|Set|AbortController|(?:\w+)?Error)$/;

test('each callback of a socket, timer, child process or emitter is contained, total, or reviewed', () => {
  const found = files.flatMap((file) => findUncontained(file, readFileSync(join(root, file), 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(reviewed).toSorted());
});

test.each([
  "socket.on('data', (chunk) => parse(chunk));",
  "socket.on('data', (chunk) => reader.push(chunk));",
  "socket.on('data', (chunk) => void createReader().push(chunk));",
  "const reader = createReader(); socket.on('data', (chunk) => reader.push(chunk));",
  "const close = () => { throw new Error(); }; socket.on('end', () => close());",
  "socket.on('data', (chunk) => { url = new URL(chunk); });",
  "socket.on('data', (chunk) => { throw chunk; });",
  "socket.on('data', reader.push);",
  "socket.on('data', onData.bind(null));",
  'setTimer(10, () => store.set(key, value));',
  "child.once('exit', async () => { await end(); });",
  'queueMicrotask(() => entries.get(key).run());',
  'new Transform({ transform: (chunk) => parse(chunk) });',
  "socket.on('data', (chunk) => void parse`${chunk}`);",
  "socket.on('data', () => void import('./parse.ts'));",
  "socket.on('data', (chunk) => { using reader = chunk; });",
  'worker.onmessage = ({ data }) => parse(data);',
  'port.onmessageerror = parse;',
])('a callback that may throw is found: %s', (source) => {
  expect(findUncontained('new.ts', source)).toHaveLength(1);
});

type Scope = {
  functions: Map<string, FunctionNode | Expression>;
  /** Returns true for an object of the language or of Node. */
  isPlatform: (node: Node) => boolean;
};

function readScope(program: Program, text: string): Scope {
  const functions: Scope['functions'] = new Map();
  const [platform, others] = [new Set(platformObjects), new Set<string>()];
  new Visitor({
    FunctionDeclaration: (node) => void (node.id && functions.set(node.id.name, node)),
    VariableDeclarator: ({ id, init }) => {
      if (id.type !== 'Identifier' || !init) return;
      functions.set(id.name, init);
      if (!id.typeAnnotation) (isPlatformValue(init) ? platform : others).add(id.name);
    },
    TSTypeAnnotation: ({ start, end }) => {
      const [, name = ''] = /(\w+)\??$/.exec(text.slice(0, start)) ?? [];
      const type = text.slice(start, end).replace(/^:\s*/, '');
      (platformTypes.test(type.replace(/ \| (?:null|undefined)$/, '')) ? platform : others).add(name);
    },
  }).visit(program);
  const isPlatform = (node: Node): boolean =>
    node.type === 'Identifier' ? platform.has(node.name) && !others.has(node.name) : isPlatformValue(node);
  return { functions, isPlatform };
}

function isPlatformValue(node: Node): boolean {
  if (node.type === 'NewExpression')
    return node.callee.type === 'Identifier' && platformTypes.test(node.callee.name);
  return (
    node.type === 'ArrayExpression' ||
    (node.type === 'CallExpression' && platformMakers.test(calleeName(node) ?? ''))
  );
}

function findUncontained(file: string, text: string): string[] {
  const { program } = parseSync(file, text);
  const scope = readScope(program, text);
  const found: string[] = [];
  new Visitor({
    CallExpression: (call) => {
      const name = calleeName(call);
      if (name === undefined || !registering.has(name)) return;
      for (const [index, argument] of call.arguments.entries()) {
        const isListener = index === 1 && listening.test(name) && argument.type !== 'Literal';
        if ((isListener || isCallback(argument, scope)) && !isSafe(argument, scope, new Set()))
          found.push(`${file} ${describe(call, name)}`);
      }
    },
    NewExpression: ({ callee, arguments: [options] }) => {
      if (callee.type !== 'Identifier') return;
      if (callee.name === 'FinalizationRegistry' && options && !isSafe(options, scope, new Set()))
        found.push(`${file} new ${callee.name}`);
      if (!/^(?:Transform|Writable|Readable|Duplex)$/.test(callee.name)) return;
      for (const option of options?.type === 'ObjectExpression' ? options.properties : [])
        if (option.type === 'Property' && !isSafe(option.value, scope, new Set()))
          if (isFunction(option.value)) found.push(`${file} new ${callee.name}`);
    },
    AssignmentExpression: ({ left, right }) => {
      if (left.type !== 'MemberExpression' || left.property.type !== 'Identifier') return;
      const { name } = left.property;
      if (/^on[a-z]+$/.test(name) && right.type !== 'Literal' && !isSafe(right, scope, new Set()))
        found.push(`${file} ${name}`);
    },
  }).visit(program);
  const places = Map.groupBy(found, (place) => place);
  return [...places].map(([place, { length }]) => (length > 1 ? `${place}, ${length} times` : place));
}

function calleeName({ callee }: CallExpression): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
    ? callee.property.name
    : undefined;
}

function describe(call: CallExpression, name: string): string {
  const [first] = call.arguments;
  return first?.type === 'Literal' ? `${name} ${String(first.value)}` : name;
}

function isFunction(node: Node | undefined): node is FunctionNode {
  return (
    node !== undefined &&
    ['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration'].includes(node.type)
  );
}

function isCallback(node: Node, { functions }: Scope): boolean {
  if (isFunction(node)) return true;
  return node.type === 'Identifier' && isFunction(functions.get(node.name));
}

function isSafe(node: Node, scope: Scope, seen: Set<string>): boolean {
  if (node.type === 'Identifier') {
    if (seen.has(node.name)) return true;
    const declared = scope.functions.get(node.name);
    if (isFunction(declared)) return isSafe(declared, scope, new Set([...seen, node.name]));
    // The functions of a promise have no declaration here.
    if (declared === undefined) return total.has(node.name);
    return declared.type === 'CallExpression' && calleeName(declared) === 'contained';
  }
  if (node.type === 'CallExpression') return calleeName(node) === 'contained';
  if (node.type === 'MemberExpression')
    return (
      node.property.type === 'Identifier' && total.has(node.property.name) && scope.isPlatform(node.object)
    );
  if (!isFunction(node)) return false;
  const { body } = node;
  if (body?.type === 'BlockStatement' && body.body.length === 1 && body.body[0]?.type === 'TryStatement')
    return true;
  let isTotal = true;
  new Visitor({
    ThrowStatement: () => void (isTotal = false),
    AwaitExpression: () => void (isTotal = false),
    ImportExpression: () => void (isTotal = false),
    VariableDeclaration: ({ kind }) => void (isTotal &&= !kind.includes('using')),
    TaggedTemplateExpression: ({ tag }) => void (isTotal &&= isSafe(tag, scope, seen)),
    NewExpression: ({ callee }) =>
      void (isTotal &&= callee.type === 'Identifier' && totalConstructors.test(callee.name)),
    CallExpression: ({ callee }) => void (isTotal &&= isSafe(callee, scope, seen)),
  }).visit({ type: 'Program', body: [{ type: 'ExpressionStatement', expression: node }] } as never);
  return isTotal;
}
