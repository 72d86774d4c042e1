import { parseXml, XmlElement } from '@rgrove/parse-xml';

export type { XmlElement };

/** Text that is no XML, or XML with a document type: that could define entities. */
export class UnreadableXmlError extends Error {
  override readonly name = 'UnreadableXmlError';
}

/**
 * Parses an XML document into its root. The parser knows no entities but those of XML and never reads another file. A bare ampersand, which
 * cameras write in addresses, is text. Throws `UnreadableXmlError`.
 */
export function readXml(text: string): XmlElement {
  if (/<!DOCTYPE/i.test(text)) throw new UnreadableXmlError('XML has a document type');
  try {
    const { root } = parseXml(text.trim().replaceAll(bareAmpersand, '&amp;'));
    if (root !== null) return root;
  } catch (cause) {
    // Also a depth that exceeds the stack.
    throw new UnreadableXmlError('XML cannot be read', { cause });
  }
  throw new UnreadableXmlError('XML has no root');
}

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
    (found, name) => found && childElements(found, name)[0],
    element,
  );
}

/** Returns the text at a path of names, without white space around it; undefined without a text. */
export function findText(element: XmlElement | undefined, ...path: string[]): string | undefined {
  return findElement(element, ...path)?.text.trim() || undefined;
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
