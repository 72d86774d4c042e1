import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/** Vitest setup file of the lane `core`: to open a socket or to start a process throws. */

function refuse(target: object, ...names: string[]): void {
  for (const name of names)
    Object.defineProperty(target, name, {
      configurable: true,
      writable: true,
      value: () => {
        throw new Error(
          `The test lane core has no sockets and no processes, but ${name}() was called: add the test file to another lane in test/lanes.ts`,
        );
      },
    });
}

refuse(net.Socket.prototype, 'connect');
refuse(net.Server.prototype, 'listen');
refuse(dgram.Socket.prototype, 'bind', 'connect', 'send');
refuse(childProcess.ChildProcess.prototype, 'spawn');
refuse(childProcess, 'execFileSync', 'execSync', 'spawnSync');
syncBuiltinESMExports();
