import type { Socket } from 'node:net';

/** Writes as fast as the reader reads, and never reads. */
export function flood(socket: Socket, piece: Buffer | string): void {
  socket.pause();
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}
