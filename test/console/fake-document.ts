/** Element of `createFakeDocument`: what Preact needs of one, and events. */
export class FakeNode {
  parentNode: FakeNode | null = null;
  childNodes: FakeNode[] = [];
  attributes: Record<string, unknown> = {};
  readonly listeners = new Map<string, (event: unknown) => void>();
  readonly localName: string;
  data = '';
  style = {};

  constructor(localName: string) {
    this.localName = localName;
  }

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  insertBefore(child: FakeNode, before: FakeNode | null): void {
    child.parentNode?.removeChild(child);
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(at, 0, child);
    child.parentNode = this;
  }

  appendChild(child: FakeNode): void {
    this.insertBefore(child, null);
  }

  removeChild(child: FakeNode): void {
    this.childNodes = this.childNodes.filter((each) => each !== child);
    child.parentNode = null;
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes[name] = value;
  }

  removeAttribute(name: string): void {
    delete this.attributes[name];
  }

  addEventListener(name: string, listener: (event: unknown) => void): void {
    this.listeners.set(name, listener);
  }

  removeEventListener(name: string): void {
    this.listeners.delete(name);
  }

  showModal(): void {}

  /** Returns the elements with one of the names below this one, in the order of the document. */
  find(...names: string[]): FakeNode[] {
    return this.childNodes.flatMap((child) => [
      ...(names.includes(child.localName) ? [child] : []),
      ...child.find(...names),
    ]);
  }

  /** Calls the listener of an event, whose name is matched without case. */
  dispatch(name: string, target: Record<string, unknown> = {}): void {
    for (const [type, listener] of this.listeners)
      if (type.toLowerCase() === name)
        listener.call(this, { type, currentTarget: target, preventDefault: () => undefined });
  }
}

/**
 * Creates a document in which Preact renders without a browser. Nothing is laid out, and effects find no element of a
 * browser.
 */
export function createFakeDocument() {
  return {
    activeElement: null,
    createElement: (name: string) => new FakeNode(name),
    createElementNS: (_: string, name: string) => new FakeNode(name),
    createTextNode: (data: unknown) => Object.assign(new FakeNode('#text'), { data: String(data) }),
  };
}
