/** The contract of every storage port, run on its memory layer. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Documents } from "../ports/Documents.ts"
import { layerMemory as apiKeys } from "../ports/memory/ApiKeys.ts"
import { layerMemory as documents } from "../ports/memory/Documents.ts"
import { layerMemory as history } from "../ports/memory/History.ts"
import { layerMemory as importProcesses } from "../ports/memory/ImportProcesses.ts"
import { layerMemory as operatorSetup } from "../ports/memory/OperatorSetup.ts"
import { DocumentPath } from "../src/Document.ts"
import { apiKeysContract } from "../testing/ApiKeysContract.ts"
import { historyContract } from "../testing/HistoryContract.ts"
import { importProcessesContract } from "../testing/ImportProcessesContract.ts"
import { operatorSetupContract } from "../testing/OperatorSetupContract.ts"

const storage = Layer.mergeAll(importProcesses, history, operatorSetup, apiKeys)

importProcessesContract("in memory", storage)
historyContract("in memory", storage)
operatorSetupContract("in memory", storage)
apiKeysContract("in memory", storage)

it.effect("Documents, in memory, finds files under their root and nothing else", () =>
  Effect.gen(function* () {
    const store = yield* Documents
    const sizeOf = (root: string, path: string) =>
      Effect.map(store.find(root, DocumentPath.make(path)), (found) =>
        Option.getOrNull(Option.map(found, ({ size }) => size))
      )
    expect(yield* sizeOf("root", "2025/a.pdf")).toBe(7)
    expect(yield* sizeOf("root", "/2025/a.pdf")).toBe(7)
    expect(yield* sizeOf("root", "2025"), "a folder is no document").toBeNull()
    expect(yield* sizeOf("other", "2025/a.pdf")).toBeNull()
    expect(yield* sizeOf("root", "2025/A.pdf")).toBeNull()
  }).pipe(Effect.provide(documents(new Map([["root/2025/a.pdf", 7]]))))
)
