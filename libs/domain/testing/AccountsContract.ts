/**
 * The contract of `Accounts`, as tests that every adapter runs. The store may be shared and have
 * data: each test makes its own account. All instants are arguments, so no test clock is needed.
 */
import { describe, layer as withLayer } from "@effect/vitest"
import type { Layer } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { accountChangeContract } from "./AccountChangeContract.ts"
import { accountReadContract } from "./AccountReadContract.ts"
import { accountsAtOnceContract } from "./ConcurrentAccountsContract.ts"
import { accountLookupContract } from "./AccountLookupContract.ts"
import { accountStoringContract } from "./AccountStoringContract.ts"
import { accountDescriptionContract, accountViewContract } from "./AccountViewContract.ts"

/** Declares the suite under `name`; the layer is built once for all of it. */
export const accountsContract = <E>(
  name: string,
  layer: Layer.Layer<Accounts | ImportProcesses | AuditLog | Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `Accounts, ${name}`,
    (it) => {
      describe("view", () => accountViewContract(it))
      describe("view with a lookup", () => accountLookupContract(it))
      describe("read", () => accountReadContract(it))
      describe("describe", () => accountDescriptionContract(it))
      describe("change of each kind of item", () => accountStoringContract(it))
      describe("change as a transaction", () => accountChangeContract(it))
      describe("concurrent changes", () => accountsAtOnceContract(it))
    }
  )
