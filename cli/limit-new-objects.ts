/** Option of Node that limits the memory for new objects. V8 reads it at its start only. */
const option = '--max-semi-space-size';
const limit = `${option}=8`;

export type NodeProcess = Pick<NodeJS.Process, 'execPath' | 'execArgv' | 'argv' | 'env'> & {
  /** Absent on Windows, and in Node before 22.15. */
  execve?: NodeJS.Process['execve'];
  /** Present if another Node process has a channel to this one, which a replacement would close. */
  send?: NodeJS.Process['send'];
};

/**
 * Replaces this process by one with the limit of new objects, with the same pid and streams: `npx watchpost start` then
 * takes as little memory as `npm start`. Does nothing if Node was started with such a limit, or cannot replace itself.
 * Call it before anything is open.
 */
export function limitNewObjects(node: NodeProcess = process): void {
  const options = [...node.execArgv, node.env['NODE_OPTIONS'] ?? ''];
  if (options.some((text) => text.replaceAll('_', '-').includes(option))) return;
  if (node.execve === undefined || node.send !== undefined) return;
  node.execve(node.execPath, [node.execPath, limit, ...node.execArgv, ...node.argv.slice(1)], node.env);
}
