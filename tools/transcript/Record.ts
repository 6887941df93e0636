/** The parts of the record, made on a fresh system one after the other. */
import { ConfigProvider, Console, DateTime, Duration, Effect, FileSystem } from "effect"
import * as Tenant from "@data-import/verify/fuzz/Tenant"
import { decode, encode } from "@data-import/local/DemoFile"
import { placesIn } from "@data-import/operator/DataDirectory"
import { borrow } from "@data-import/operator/LocalDatabase"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import * as LocalRun from "@data-import/testbed/LocalRun"
import { boardRequests } from "./BoardRequests.ts"
import { fuzzed } from "./Fuzzed.ts"
import { type Differing, Names, payloadHash } from "./Names.ts"
import { commandLines, guide, type Place, ran, writeBook } from "./Programs.ts"
import { projection } from "./Projection.ts"
import { recorder } from "./Recorder.ts"
import { Transcript } from "./Transcript.ts"

/** A fresh system behind a recorder, which the file of the demo tenant names as its address. */
const start = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const local = yield* LocalRun.start({ CHECK_ACCOUNTS_A_MINUTE: "0" })
  const file = placesIn(local.dataDir).demo
  const demo = yield* Effect.flatMap(fs.readFileString(file), decode)
  const tenant = yield* Tenant.make(local)
  let current: Transcript | undefined
  const baseUrl = yield* recorder(new URL(local.baseUrl), () => current)
  yield* Effect.flatMap(encode({ ...demo, baseUrl }), (text) => fs.writeFileString(file, text))
  const home = yield* fs.makeTempDirectoryScoped()
  return {
    baseUrl,
    demo,
    home,
    local,
    tenant,
    recording: (transcript: Transcript | undefined) => void (current = transcript)
  }
})
type System = Effect.Success<typeof start>

const rowsOf = Effect.fnUntraced(function* ({ local }: System, names: Names) {
  const { url } = yield* Effect.provideService(
    borrow,
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ DATA_DIR: local.dataDir })
  )
  const access = { url, poolSize: 1, statementTimeout: Duration.seconds(20) }
  return yield* Effect.provide(projection(names), DatabaseAccess.layer(access))
})

const surroundingsOf = ({ baseUrl, demo, home, local }: System) => ({
  DATA_DIR: local.dataDir,
  DATA_IMPORT_URL: baseUrl,
  DATA_IMPORT_API_KEY: demo.apiKey,
  XDG_CONFIG_HOME: home,
  XDG_STATE_HOME: home
})

/** The texts of the parts by their names. */
export const record = Effect.gen(function* () {
  const today = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
  const system = yield* start
  const { baseUrl, demo, home, local, recording, tenant } = system
  const env = surroundingsOf(system)
  const placed = [
    [home, "<home>"],
    [local.dataDir, "<data>"],
    [baseUrl, "<url>"]
  ] as const
  const emptyTranscript = (differing: Differing = {}) =>
    new Transcript(new Names(today, placed, differing))
  const parts = new Map<string, string>()
  const part = <E, R>(
    name: string,
    work: (place: Place) => Effect.Effect<unknown, E, R>,
    differing?: Differing
  ) =>
    Effect.gen(function* () {
      const transcript = emptyTranscript(differing)
      recording(transcript)
      yield* work({ transcript, env })
      recording(undefined)
      parts.set(name, transcript.text)
      yield* Console.log(`${name}: ${transcript.length} exchanges`)
    })
  const unkept = () => ({ env, transcript: emptyTranscript() })
  yield* part("guide", () => guide({ ...env, DATA_IMPORT_API_KEY: demo.testApiKey ?? demo.apiKey }))
  const words = { ...writeBook(home, demo.importSupplier), TEAM: demo.operationsTeamName }
  yield* part("commands", (place) => commandLines(place, words))
  yield* part("demo", () => ran(unkept(), ["demo", "--single"]), { others: [payloadHash] })
  const printed = yield* ran(unkept(), ["operator", "board", "link"])
  const [link = ""] = /http:\S+sign-in\S+/.exec(printed) ?? []
  yield* part("board", ({ transcript }) => boardRequests(link, local.baseUrl, transcript))
  yield* part("fuzz", ({ transcript }) => fuzzed(tenant, transcript), {
    others: [payloadHash],
    areBodiesOfToday: true
  })
  return parts.set("projection", yield* rowsOf(system, new Names(today, placed)))
}).pipe(Effect.scoped)
