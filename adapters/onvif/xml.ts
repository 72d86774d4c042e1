import { parseXml, XmlElement, XmlText } from '@rgrove/parse-xml';

export type { XmlElement };

/** Text that is no XML, or XML beyond a limit, or with a document type that could define entities. */
export class UnreadableXmlError extends Error {
  override readonly name = 'UnreadableXmlError';
}

/**
 * Parses an XML document into its root. The parser knows no entities but those of XML and never reads another file.
 * Bare signs, which cameras write in addresses and names, are text. Throws `UnreadableXmlError`.
 */
export function readXml(source: string): XmlElement {
  const text = source.replaceAll(unusable, '');
  if (source.length > maxLength || isNestedTooDeep(text)) throw new UnreadableXmlError('XML is too large');
  const declared = text.replace(bareDocumentType, '');
  if (/<!DOCTYPE/i.test(declared)) throw new UnreadableXmlError('XML has a document type');
  try {
    // The parser takes quadratic time for carriage returns.
    const lines = declared.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    // Devices write more around a document: the head of a part, or bytes of zero.
    const document = lines.slice(lines.indexOf('<'), lines.lastIndexOf('>') + 1);
    const escaped = document.replaceAll(bareAmpersand, '&amp;').replaceAll(bareBracket, '&lt;');
    const { root } = parseXml(withoutRepeats(escaped));
    if (root !== null) return root;
  } catch (cause) {
    throw new UnreadableXmlError('XML cannot be read', { cause });
  }
  throw new UnreadableXmlError('XML has no root');
}

/** Sixteen profiles of a camera have 100 kB, 3,000 tags and a depth of 10. */
const [maxLength, maxTags, maxDepth] = [500_000, 20_000, 64];

/**
 * Counts the begins and ends of tags, also in comments, and what else the parser takes one by one: only a document that
 * is larger than those of cameras is refused for them.
 */
function isNestedTooDeep(text: string): boolean {
  let [tags, depth] = [0, 0];
  for (const [tag] of text.matchAll(/<[/!?]?|\/>|[&=]/g)) {
    tags += 1;
    if (!/[!?&=]/.test(tag)) depth += tag.includes('/') ? -1 : 1;
    if (tags > maxTags || depth > maxDepth) return true;
  }
  return false;
}

/** Document type that names a root and a file, which nobody reads, and defines nothing. */
const bareDocumentType = /<!DOCTYPE[^<>[\]]*>/i;

/** Leaves out attributes that an element has already: libraries of devices add a namespace twice. */
function withoutRepeats(document: string): string {
  return document.replaceAll(literalOrStartTag, (part: string) => {
    if (part.startsWith('<!')) return part;
    const names = new Set<string>();
    return part.replaceAll(attribute, (match: string, name: string) => {
      if (names.has(name)) return '';
      names.add(name);
      return match;
    });
  });
}

/** CDATA, a comment, or a start tag or declaration, whose values may contain its end. */
const literalOrStartTag =
  /<!\[CDATA\[[^]*?(?:\]\]>|$)|<!--[^]*?(?:-->|$)|<[\w:?][^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>/g;
const attribute = /\s([\w:.-]+)\s*=\s*(?:"[^"<]*"|'[^'<]*')/g;
const bareBracket = /<(?![\w:/!?])/g;
const bareAmpersand = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi;

/** Returns the child elements, or those with a name. Prefixes of namespaces are ignored: devices differ in them. */
export function childElements(element: XmlElement, name?: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement =>
      child instanceof XmlElement && (name === undefined || localName(child) === name),
  );
}

/** Returns the first element at a path of names. */
export function findElement(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>(
    (parent, name) => parent && childElements(parent, name)[0],
    element,
  );
}

/**
 * Returns the text at a path of names, without white space around it and the text of elements in it; undefined without
 * a text.
 */
export function findText(element: XmlElement | undefined, ...path: string[]): string | undefined {
  const children = findElement(element, ...path)?.children ?? [];
  const texts = children.flatMap((child) => (child instanceof XmlText ? child.text : []));
  return texts.join('').trim() || undefined;
}

export function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Escapes a text for an element. Characters that XML cannot contain are left out. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replaceAll(unusable, '');
}

// oxlint-disable-next-line no-control-regex
const unusable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
