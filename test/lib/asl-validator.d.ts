/** Types of the package, which has none. */
declare module 'asl-validator' {
  export default function validate(definition: unknown): { errors: unknown[] };
}
