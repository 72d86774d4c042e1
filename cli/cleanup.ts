/** Steps of a cleanup, which run in reverse order whatever one of them throws: `AsyncDisposableStack`, which Node 22 lacks. */
export class Cleanup implements AsyncDisposable {
  readonly #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  use<Resource extends Disposable>(resource: Resource): Resource {
    this.defer(() => resource[Symbol.dispose]());
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const step = this.#steps.pop();
    if (step === undefined) return;
    try {
      await step();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }
}
