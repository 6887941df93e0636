/** What a scenario found to be wrong, by kind. A passed scenario has no findings. */

/**
 * `lost`: acknowledged, but not stored. `doubled`: stored more than once. `halfMade`: stored in
 * part. `wrong`: an answer that the contract does not allow here.
 */
export type Kind = "lost" | "doubled" | "halfMade" | "wrong"

export class Findings {
  readonly #found: Readonly<Record<Kind, Array<string>>> = {
    lost: [],
    doubled: [],
    halfMade: [],
    wrong: []
  }

  add(kind: Kind, what: string): void {
    this.#found[kind].push(what)
  }

  count(kind: Kind): number {
    return this.#found[kind].length
  }

  get total(): number {
    return Object.values(this.#found).reduce((sum, of) => sum + of.length, 0)
  }

  /** At most `each` of a kind, in words. */
  described(each: number): ReadonlyArray<string> {
    return Object.entries(this.#found).flatMap(([kind, of]) => [
      ...of.slice(0, each).map((what) => `${kind}: ${what}`),
      ...(of.length > each ? [`${kind}: and ${of.length - each} more`] : [])
    ])
  }
}
