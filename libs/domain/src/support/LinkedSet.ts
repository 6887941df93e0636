/**
 * A set of objects in the order of their addition, for members that come and go thousands of times
 * a second. It is a linked list, whose removed nodes lead nowhere. The table of a `Set` is replaced
 * again and again, and each old one leads to the next and to the members of its time. Once one of
 * them is old, all of that stays alive until the garbage collector visits the whole heap.
 */

interface Node<A extends object> {
  readonly value: A
  previous: Node<A> | undefined
  next: Node<A> | undefined
}

export class LinkedSet<A extends object> implements Iterable<A> {
  readonly #nodes = new WeakMap<A, Node<A>>()
  #first: Node<A> | undefined
  #last: Node<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The member that was added first; undefined if there is none. */
  get first(): A | undefined {
    return this.#first?.value
  }

  has(value: A): boolean {
    return this.#nodes.has(value)
  }

  /** Adds the object as the last one, unless it is a member already. */
  add(value: A): void {
    if (this.#nodes.has(value)) return
    const node: Node<A> = { value, previous: this.#last, next: undefined }
    this.#nodes.set(value, node)
    if (this.#last === undefined) this.#first = node
    else this.#last.next = node
    this.#last = node
    this.#size += 1
  }

  /** Whether the object was a member. */
  delete(value: A): boolean {
    const node = this.#nodes.get(value)
    if (node === undefined) return false
    this.#nodes.delete(value)
    const { next, previous } = node
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    node.previous = node.next = undefined
    this.#size -= 1
    return true
  }

  /** The members, none of which may be removed meanwhile. */
  *[Symbol.iterator](): Iterator<A> {
    for (let node = this.#first; node !== undefined; node = node.next) yield node.value
  }
}
