/** Does work in the name of a caller: what all callers share then serves them in turn. */
export type AsCaller = <Result>(caller: string, work: () => Promise<Result>) => Promise<Result>;
