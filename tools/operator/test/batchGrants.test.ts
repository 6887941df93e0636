/** The rights of the operator's database user suffice for every command on batches. */
import { started } from "@data-import/domain/testing/begunBatches"
import * as DeployedStorage from "@data-import/postgres/testing/DeployedStorage"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { operatorAs } from "./commandLine.ts"

it.effect("batches are listed, shown, paused, resumed and cancelled by its user", () =>
  Effect.gen(function* () {
    const url = yield* freshUrl
    const users = databaseUsersAt(url)
    const deployed = yield* DeployedStorage.make(url, users)
    const batch = yield* Effect.provideContext(started(["a", "b"]), deployed)
    const operator = operatorAs(users.operator)
    for (const [verb, state] of [
      ["show", "QUEUED"],
      ["pause", "PAUSED"],
      ["resume", "QUEUED"],
      ["cancel", "CANCELLED"]
    ] as const) {
      const { done, err, out } = yield* operator("batch", verb, batch.id, "--json")
      expect({ done, err }, verb).toEqual({ done: true, err: "" })
      expect(JSON.parse(out)).toMatchObject({ batch_id: batch.id, state })
    }
    const listed = yield* operator("batch", "list", "--all", "--json")
    expect(JSON.parse(listed.out)).toMatchObject([{ batch_id: batch.id }])
    const verified = yield* operator("audit", "verify")
    expect(verified.done).toBe(true)
  })
)
