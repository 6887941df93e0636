/** The cases of the fuzzer that are the same in every run, one after the other. */
import { Data, Effect } from "effect"
import type { Request } from "@data-import/verify/fuzz/Case"
import { run } from "@data-import/verify/fuzz/Run"
import type { Tenant } from "@data-import/verify/fuzz/Tenant"
import type { Transcript } from "./Transcript.ts"

const seed = 7
const cases = 3_000

/** A batch of this name is refused or not as others end meanwhile. */
export const racing = "one of too many"

/** The fuzzer found an answer that is wrong, so there is nothing to compare with. */
class WrongAnswers extends Data.TaggedError("WrongAnswers")<{ readonly message: string }> {}

const bodyOf = ({ body, raw, smuggled }: Request): string =>
  raw ?? (smuggled === undefined ? Buffer.from((body ?? "") as string).toString() : smuggled.attack)

export const fuzzed = Effect.fnUntraced(function* (tenant: Tenant, transcript: Transcript) {
  const options = { seed, from: 0, to: cases, concurrency: 1 }
  const { failures } = yield* Effect.promise(() =>
    run(tenant, options, {
      observe: (request, { body, headers, status }) => {
        const sent = bodyOf(request)
        if (sent.includes(racing)) return
        transcript.add({
          method: request.method,
          path: request.path,
          as: request.who,
          body: sent,
          status,
          headers,
          answer: body
        })
      }
    })
  )
  const wrong = failures.map(({ at, complaints }) => `${at}: ${complaints.join("; ")}`)
  if (wrong.length > 0) return yield* new WrongAnswers({ message: wrong.join("\n") })
})
