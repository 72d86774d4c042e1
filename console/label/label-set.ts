import { Problem, unreachable } from '../api/problem.ts';

/** Right answer of an example; `null`: not labelled. */
export type Expected = 'yes' | 'no' | 'unclear' | null;

export type LabelExample = {
  name: string;
  condition: string;
  expected: Expected;
  verdict: { triggered: boolean; explanation: string } | null;
};

export type LabelSet = { name: string; examples: LabelExample[] };

export const pictureUrl = (index: number): string => `/label/pictures/${index}`;

export async function readLabelSet(): Promise<LabelSet> {
  return send<LabelSet>('/label/set');
}

export async function storeLabel(index: number, expected: Expected): Promise<void> {
  await send(`/label/set/${index}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ expected }),
  });
}

/** Sends a request to `watchpost label`. Throws `Problem`. */
async function send<Answer>(path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(path, init).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (response.ok) return readJson<Answer>(response);
  const { message, remedy } = await readJson<{ message: string; remedy: string }>(response);
  throw new Problem(response.status, 'LABEL_FAILED', message, remedy);
}

/** Reads a body that this page's own server wrote. */
async function readJson<Body>(response: Response): Promise<Body> {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return response.json();
}
