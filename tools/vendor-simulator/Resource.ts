/**
 * What a simulated vendor is: answers to the paths that it has, as the real one documents them, of
 * which an importer keeps only a part. The reference decides, by the words in it.
 */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface SimulatedVendor {
  /** The answer to GET, or undefined where the vendor has no such path. */
  readonly get: (
    path: ReadonlyArray<string>,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ) => Answer | undefined
  /** Its answer to a request that it refuses with this status. */
  readonly refusal: (status: number) => Answer
}
