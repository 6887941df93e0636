/** Who runs a command, for the audit log: the name after `--as`, or else the login name. */
import { Context, Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { callerOf, CurrentOperator } from "@data-import/domain/access/Operator"
import { type OrganisationName, RequestId } from "@data-import/domain/suppliers/Organisation"
import { asText, printableText } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"

const nameLength = 64

/** Given anywhere on the line, it names who runs the command. */
export const As = GlobalFlag.Setting("as")({
  flag: Flag.String("as").pipe(
    Flag.withDescription("Your name for the audit log; the login name unless given"),
    asText(nameLength),
    Flag.optional
  )
})

/** The login name of the user who started the process; empty if the system has none. */
export class Login extends Context.Service<Login, string>()("@data-import/operator/Login") {}

/** Runs the work of a command on behalf of the operator; each command is a separate request. */
export const asOperator = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const given = Option.orElse(yield* As, () => Option.some(""))
    const login = yield* Login
    const name = printableText(nameLength)(given.pipe(Option.getOrThrow) || login)
    if (Option.isNone(name)) {
      return yield* new Refused({ why: "The login name is unknown. Give your name: --as <name>." })
    }
    const requestId = RequestId.make(crypto.randomUUID())
    return yield* Effect.provideService(work, CurrentOperator, { name: name.value, requestId })
  })

/** The operator, who changes or reads something of this organisation. */
export const operatorFor = Effect.fnUntraced(function* (organisation: OrganisationName) {
  const operator = yield* CurrentOperator
  if (operator === null) return yield* Effect.die(new Error("No operator runs this command"))
  return callerOf(operator, organisation)
})
