/** The package has no types. */
declare module 'asl-validator' {
  export default function validate(definition: unknown): { errors: unknown[] };
}
