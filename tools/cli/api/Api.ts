/** `data-import api GET PATH`: asks what no other command shows. It only reads. */
import { Console, Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { DataImport, linesOf } from "@data-import/client/effect"
import { announce } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { asClientOf, connection } from "../connection/Connection.ts"
import { unreachable } from "../connection/Reachability.ts"

const answered = (path: string, status: number, requestId: string | undefined) =>
  new Refused({
    wasCarriedOut: true,
    why: `${path} answered ${status}.${requestId === undefined ? "" : ` Request id: ${requestId}`}`
  })

const get = Command.make(
  "GET",
  {
    path: Argument.String("path").pipe(
      Argument.withMetavar("PATH"),
      Argument.withDescription("The path with its query, like /v1/data-import/limits/"),
      Argument.filter(
        (path) => path.startsWith("/"),
        () => "a path that begins with /, without the address of the deployment"
      )
    )
  },
  Effect.fnUntraced(function* ({ path }) {
    const profile = yield* connection
    const { baseUrl } = profile
    yield* Effect.gen(function* () {
      const { token } = yield* DataImport
      const client = yield* HttpClient.HttpClient
      const headers = { authorization: `Token ${yield* token.accessToken()}` }
      const request = HttpClientRequest.get(`${baseUrl}${path}`, { headers })
      const response = yield* client.execute(request)
      yield* announce(`${baseUrl}${path} answers ${response.status}`)
      yield* Stream.runForEach(linesOf(response.stream), (line) => Console.log(line))
      const {
        headers: { "x-request-id": requestId },
        status
      } = response
      if (status >= 300) return yield* answered(path, status, requestId)
    }).pipe(
      Effect.catchTag("HttpClientError", ({ cause, reason }) =>
        Effect.fail(new Refused({ why: unreachable(baseUrl, cause ?? reason._tag) }))
      ),
      asClientOf(profile)
    )
  })
).pipe(
  Command.withDescription(
    "Print the answer to a GET of the interface, as it is. Exits with 0 if its status is 2xx, 1 if " +
      "it is another, and 2 if there was none."
  ),
  Command.withShortDescription("Print the answer to a GET"),
  Command.withExamples([
    {
      command: 'data-import api GET "/v1/data-import/imports/?import_supplier=ACME_LEGACY"',
      description: "List imports, with a filter that no other command has"
    }
  ])
)

export const api = Command.make("api").pipe(
  Command.withDescription("The interface itself, to read what no other command shows"),
  Command.withSubcommands([get])
)
