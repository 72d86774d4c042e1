import { digestRequest, checkRequest, monitorRequest, type Draft, type Purpose } from './draft.ts';

export type Language = 'curl' | 'typescript' | 'python';

/** Returns the request as code in each language. The code reads the key from an environment variable. */
export function requestCode(purpose: Purpose, draft: Draft, baseUrl: string): Record<Language, string> {
  const { path, body } = toRequest(purpose, draft);
  const url = `${baseUrl}${path}`;
  return { curl: curl(url, body), typescript: typescript(url, body), python: python(url, body) };
}

function toRequest(purpose: Purpose, draft: Draft): { path: string; body: object } {
  const filled = { ...draft, stream_url: draft.stream_url.trim() || 'https://example.com/live.m3u8' };
  const asked = { ...filled, condition: draft.condition.trim() || 'A person is at the door' };
  if (purpose === 'look') return { path: '/check-once', body: checkRequest(asked) };
  if (purpose === 'monitor') return { path: '/live-monitor', body: monitorRequest(asked) };
  return { path: '/live-digest', body: digestRequest(asked) };
}

function curl(url: string, body: object): string {
  // In single quotes, a shell interprets only the quote itself.
  const data = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
  return `curl -sS ${url} \\
  -H "Authorization: Bearer $WATCHPOST_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${data}'`;
}

function typescript(url: string, body: object): string {
  return `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.WATCHPOST_API_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), 2)}),
});
const answer = await response.json();
if (!response.ok) throw new Error(JSON.stringify(answer));
console.log(answer);`;
}

function python(url: string, body: object): string {
  const entries = Object.entries(body).map(([name, value]) => `    "${name}": ${pythonValue(value)},`);
  return `import json, os, urllib.request

body = {
${entries.join('\n')}
}
request = urllib.request.Request(
    "${url}",
    data=json.dumps(body).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['WATCHPOST_API_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

function pythonValue(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // JSON strings are valid Python strings.
  return JSON.stringify(value);
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
