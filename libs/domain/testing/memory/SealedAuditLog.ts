/** The sealed audit log in memory, where nothing alters an entry. */
import { Effect, Layer } from "effect"
import { SealedAuditLog } from "../../src/audit/SealedAuditLog.ts"
import { leafHashOfText, makeGrowingTree } from "../../src/merkle/MerkleTree.ts"
import { Hashing } from "../../src/requests/Hashing.ts"
import { hexOf } from "../../src/support/Hexadecimal.ts"
import { layerMemory as hashing } from "./Hashing.ts"
import { MemoryStore } from "./Store.ts"

const make = Effect.gen(function* () {
  const { audit } = yield* MemoryStore
  const { digest } = yield* Hashing
  let size = 0
  const hashOf = (entry: (typeof audit)[number]) => leafHashOfText(digest, JSON.stringify(entry))
  const sealed = ({ after, limit }: { readonly after: bigint; readonly limit: number }) =>
    audit.slice(Number(after), Math.min(Number(after) + limit, size)).map((each, index) => {
      const { entry, key } = each
      const hash = hexOf(hashOf(each))
      const position = after + BigInt(index) + 1n
      const { organisation } = entry
      return { position, hash, present: hash, id: position, organisation, ...key }
    })
  return SealedAuditLog.of({
    seal: (limit) =>
      Effect.sync(() => {
        const some = Math.min(limit, audit.length - size)
        size += some
        return some
      }),
    head: Effect.sync(() => {
      const tree = makeGrowingTree(digest)
      for (const each of audit.slice(0, size)) tree.append(hashOf(each))
      return { size: BigInt(size), root: hexOf(tree.root()) }
    }),
    leaves: (page) => Effect.sync(() => sealed(page)),
    entries: (page) => Effect.sync(() => sealed(page)),
    entriesOf: (key) =>
      Effect.sync(() =>
        sealed({ after: 0n, limit: size }).filter(
          ({ external_account_number, import_supplier }) =>
            import_supplier === key.import_supplier &&
            external_account_number === key.external_account_number
        )
      )
  })
})

export const layerMemory: Layer.Layer<SealedAuditLog> = Layer.effect(SealedAuditLog, make).pipe(
  Layer.provide([MemoryStore.layer, hashing])
)
