/**
 * A simulated vendor: answers to its paths, as the real vendor documents them. The words in the
 * reference choose the answer.
 */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface SimulatedVendor {
  /** The answer to GET, or undefined if the vendor has no such path. */
  readonly get: (
    path: ReadonlyArray<string>,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ) => Answer | undefined
  /** Its answer to a request that it refuses with this status. */
  readonly refusal: (status: number) => Answer
}
