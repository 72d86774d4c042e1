/** Work in steps, between which others can have their turn. */
export type Steps<Result> = Generator<undefined, Result>;

/** Does all steps without a pause. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
