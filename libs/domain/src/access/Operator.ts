/**
 * Who runs an operator command, or acts on the board, for the audit log. Storage reads it when a
 * command writes, and records the write in the same transaction. Programs of clients' requests have
 * no operator; they record the caller.
 */
import { Context } from "effect"
import {
  ApiKeyId,
  type Caller,
  type OrganisationName,
  RequestId
} from "../suppliers/Organisation.ts"

export interface OperatorCommand {
  /** The person's name, 1 to 64 characters. */
  readonly name: string
  /** Where the person acts; with the operator command unless given. */
  readonly on?: "operator" | "board"
  readonly requestId: RequestId
}

/** The running command. Null outside of one: then no write is recorded. */
export const CurrentOperator = Context.Reference<OperatorCommand | null>(
  "@data-import/domain/CurrentOperator",
  { defaultValue: () => null }
)

/** Stands for the whole deployment in the audit log. No organisation has this name. */
const deployment = "*" as OrganisationName

/** Prefixes of people's names in the audit log. The ids of API keys have no colon. */
export const personPrefixes = ["operator:", "board:"] as const

/** Prefix of request ids of batch workers, which act in the name of the batch's starter. */
export const workerPrefix = "batch-"

/** The service itself, which pauses batches and cancels forgotten ones. */
export const serviceFor = ({
  id,
  organisation
}: {
  readonly id: string
  readonly organisation: OrganisationName
}): Caller => ({
  organisation,
  apiKey: ApiKeyId.make("service"),
  scopes: [],
  requestId: RequestId.make(`${workerPrefix}${id}`)
})

/** Whether a person did what an entry says: not an API key, nor a worker in a person's name. */
export const isByPerson = ({ apiKey, requestId }: Pick<Caller, "apiKey" | "requestId">): boolean =>
  personPrefixes.some((prefix) => apiKey.startsWith(prefix)) && !requestId.startsWith(workerPrefix)

/** The person as a caller who acts for this organisation, or the deployment if null. */
export const callerOf = (
  { name, on = "operator", requestId }: OperatorCommand,
  organisation: OrganisationName | null
): Caller => ({
  organisation: organisation ?? deployment,
  apiKey: ApiKeyId.make(`${on}:${name}`),
  scopes: [],
  requestId
})
