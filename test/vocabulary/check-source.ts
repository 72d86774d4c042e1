import { parseSync, Visitor, type Comment } from 'oxc-parser';
import { checkComment, checkName, checkPhrases, checkTitle, checkWidth, type Finding } from './rules.ts';

/** Findings in TypeScript or JavaScript. Throws if the file does not parse. */
export function checkSource(file: string, source: string): Finding[] {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const findings: Finding[] = paragraphs(comments, source).flatMap(({ text, offset }) =>
    checkComment(text).map((found) => ({ ...found, offset })),
  );
  for (const { start, end } of comments) {
    const begin = source.lastIndexOf('\n', start) + 1;
    // A comment behind code is broken with it.
    if (source.slice(begin, start).trim() !== '') continue;
    for (const found of checkWidth(source.slice(begin, end)))
      findings.push({ ...found, offset: begin + found.offset });
  }
  const strings: { text: string; offset: number }[] = [];
  new Visitor(texts(strings, findings)).visit(program);
  for (const { text, offset } of strings)
    findings.push(...checkPhrases(text).map((found) => ({ ...found, offset })));
  if (!file.startsWith('test/')) new Visitor(names(findings)).visit(program);
  return findings.toSorted((a, b) => a.offset - b.offset);
}

type Visit = ConstructorParameters<typeof Visitor>[0];
type Node = { type: string; start: number; [key: string]: unknown };

/** Collects strings, and findings of the titles of tests. */
function texts(strings: { text: string; offset: number }[], findings: Finding[]): Visit {
  const imports = new Set<number>();
  const source = (node: { source: { start: number } | null }) => {
    if (node.source) imports.add(node.source.start);
  };
  return {
    ImportDeclaration: source,
    ExportNamedDeclaration: source,
    ExportAllDeclaration: source,
    Literal: ({ value, start }) => {
      if (typeof value === 'string' && !imports.has(start)) strings.push({ text: value, offset: start });
    },
    TemplateElement: ({ value, start }) => strings.push({ text: value.raw, offset: start }),
    JSXText: ({ value, start }) => strings.push({ text: value, offset: start }),
    CallExpression: ({ callee, arguments: [title] }) => {
      if (!title || !isTest(callee as unknown as Node)) return;
      const text = titleText(title as unknown as Node);
      const found = text === undefined ? undefined : checkTitle(text);
      if (found) findings.push({ ...found, offset: title.start });
    },
  };
}

/** Collects findings of the names of variables, parameters and functions. */
function names(findings: Finding[]): Visit {
  const check = (bound: unknown[]) => {
    for (const { name, start } of bound.filter(isNode).flatMap(listBound))
      findings.push(...checkName(String(name)).map((finding) => ({ ...finding, offset: start })));
  };
  return {
    VariableDeclarator: ({ id }) => check([id]),
    FunctionDeclaration: ({ id, params }) => check([id, ...params]),
    FunctionExpression: ({ params }) => check(params),
    ArrowFunctionExpression: ({ params }) => check(params),
    CatchClause: ({ param }) => check([param]),
  };
}

/** Lists the identifiers that a pattern binds, without those that have the name of a field: `{ at }`. */
function listBound(pattern: Node): Node[] {
  if (pattern.type === 'Identifier') return [pattern];
  if (pattern['shorthand'] === true) return [];
  const { properties, elements, value, left, argument, parameter } = pattern;
  return [properties, elements, value, left, argument, parameter].flat().filter(isNode).flatMap(listBound);
}

/** True for `it`, `test`, their modifiers (`it.skip`) and their tables (`it.each(…)`). */
function isTest(callee: Node): boolean {
  if (callee.type === 'Identifier') return callee['name'] === 'it' || callee['name'] === 'test';
  const inner = callee['object'] ?? callee['callee'] ?? callee['tag'];
  return isNode(inner) && isTest(inner);
}

/** Text of a string or template; each expression of a template counts as one placeholder. */
function titleText(title: Node): string | undefined {
  if (title.type === 'Literal' && typeof title['value'] === 'string') return title['value'];
  if (title.type !== 'TemplateLiteral') return undefined;
  return (title['quasis'] as { value: { raw: string } }[]).map(({ value }) => value.raw).join('%s');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** Texts of comments; line comments on consecutive lines are one text. Directives of tools are left out. */
function paragraphs(comments: Comment[], source: string): { text: string; offset: number }[] {
  const found: { text: string; offset: number; end: number; line: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const text = type === 'Line' ? value.trim() : value.replaceAll(/^\s*\*+ ?/gm, '').trim();
    if (/^(?:\/|#|@ts-|eslint|oxlint|oxfmt|<reference)/.test(text)) continue;
    const last = found.at(-1);
    if (type === 'Line' && last?.line && /^\r?\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.text += ` ${text}`;
      last.end = end;
    } else found.push({ text, offset: start, end, line: type === 'Line' });
  }
  return found;
}
