import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openLocally } from './local-server.ts';

export type PictureServer = {
  url(path: string): string;
  /** Responses by path without query; tests may change them at any time. */
  answers: Record<string, (response: ServerResponse, request: IncomingMessage) => void>;
  requests: IncomingMessage[];
  close(): Promise<void>;
};

/** Starts the HTTP server of a camera. */
export async function servePictures(answers: PictureServer['answers'] = {}): Promise<PictureServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on('error', () => undefined);
    const answer = served.answers[request.url?.split('?')[0] ?? ''];
    if (answer) answer(response, request);
    else response.writeHead(404).end();
  });
  const { url, close } = await openLocally(server);
  const served: PictureServer = {
    url,
    answers,
    requests,
    close,
  };
  return served;
}

/** Answers with one picture. */
export const snapshot =
  (jpeg: Uint8Array | (() => Uint8Array), headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(200, { 'content-type': 'image/jpeg', ...headers })
      .end(typeof jpeg === 'function' ? jpeg() : jpeg);

export const multipart = { 'content-type': 'multipart/x-mixed-replace; boundary=frame' };

/** Writes a part of Motion JPEG. */
export function writePart(response: ServerResponse, jpeg: Uint8Array): void {
  response.write(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`);
  response.write(jpeg);
  response.write('\r\n');
}

/** Answers with Motion JPEG: the pictures in turn, one per `everyMs`, until the client leaves. */
export const motionJpeg =
  (jpegs: readonly Uint8Array[], everyMs: number, headers: Record<string, string> = multipart) =>
  (response: ServerResponse): void => {
    response.writeHead(200, headers);
    let sent = 0;
    const send = (): void => {
      const jpeg = jpegs[sent % jpegs.length];
      if (jpeg) writePart(response, jpeg);
      sent += 1;
    };
    send();
    const timer = setInterval(send, everyMs);
    response.on('close', () => clearInterval(timer));
  };

/** The first picture with the end of another one, as after a loss. No decoder says anything. */
export const joinJpegs = (first: Buffer, second: Buffer) =>
  Buffer.concat([first.subarray(0, -2), second.subarray(-90)]);
