import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { EndpointDeclaration } from '../http/endpoint.ts';

const objectSchema = z.record(z.string(), z.unknown());

/** Converts a response of the API to a tool result. An error is a result too, so that the model reads its remediation. */
export async function toolResult(endpoint: EndpointDeclaration, response: Response): Promise<CallToolResult> {
  const declared = endpoint.response;
  if (response.ok && declared.kind === 'jpeg') {
    return { content: [jpeg(Buffer.from(await response.arrayBuffer()).toString('base64'))] };
  }
  const body = objectSchema.parse(await response.json());
  if (!response.ok) return { ...toStructuredResult(body), isError: true };
  const picture = declared.kind === 'json' ? declared.picture : undefined;
  if (picture === undefined) return toStructuredResult(body);
  const { [picture]: frame, ...rest } = body;
  const { content, structuredContent } = toStructuredResult(rest);
  return { content: [...content, ...(typeof frame === 'string' ? [jpeg(frame)] : [])], structuredContent };
}

/** Result with text, for clients that do not read structured content. */
export function toStructuredResult(body: Record<string, unknown>) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(body) }], structuredContent: body };
}

function jpeg(data: string) {
  return { type: 'image' as const, mimeType: 'image/jpeg', data };
}
