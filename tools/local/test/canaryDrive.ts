/**
 * Requests of every kind with canaries everywhere: valid ones, ones with each field wrong in turn,
 * malformed ones, and all of them while dependencies fail.
 */
import { Effect, Exit } from "effect"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Scope } from "@data-import/domain/suppliers/Organisation"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { freshOrganisation, supplierOf } from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { get as valueAt, isWire, type Wire } from "@data-import/domain/testing/wire"
import { accountNumber, secretCanary, withCanaries } from "./Canaries.ts"
import { makeWebhooks } from "./canaryWebhooks.ts"
import { WholeSystem } from "./wholeSystem.ts"

/** An answer, and whether it was to a request of this kind. */
export interface Heard {
  readonly path: string
  readonly status: number
  readonly text: string
}

const root = "/v1/data-import"
const team = "Migration Team"
const stagePath = `${root}/account-import-process/create-or-update/`
const processPath = `${root}/account-import-process/process/`

/** Headers that a client sends although no operation uses them. */
const strayHeaders = {
  "user-agent": secretCanary("agent"),
  cookie: `session=${secretCanary("cookie")}`,
  referer: `http://example.com/?token=${secretCanary("referer")}`,
  baggage: `token=${secretCanary("baggage")}`,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: `vendor=${secretCanary("tracestate")}`,
  "x-api-key": secretCanary("header")
}

const obtaining = `mutation ($input: ObtainServiceTokenInput!) {
  obtainServiceToken(input: $input) { token refreshToken payload } }`

/** A new tenant with webhooks, whose customers are to get e-mails. */
const makeTenant = Effect.gen(function* () {
  const setup = yield* Configuration
  yield* setup.createTeam(team)
  const { name: organisation } = yield* freshOrganisation
  const supplier = { ...supplierOf(organisation), customerEmails: true }
  yield* setup.createSupplier(supplier)
  const scopes = Scope.literals
  const { secret } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  const webhooks = yield* makeWebhooks(organisation)
  const secrets = [secret, ...webhooks.secrets]
  return { supplier, secret, secrets, received: webhooks.received }
})

/** A client of the system that records its answers and its secrets. */
const makeClient = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const { received, secret, secrets, supplier } = yield* makeTenant
  const heard: Array<Heard> = []

  const send = Effect.fnUntraced(function* (
    path: string,
    { headers: own, ...init }: Omit<RequestInit, "headers"> & { readonly headers?: object }
  ) {
    const headers = { ...strayHeaders, "content-type": "application/json", ...own }
    const answer = yield* Effect.promise(async () => {
      const response = await fetch(gatewayUrl + path, { redirect: "manual", ...init, headers })
      return { path, status: response.status, text: await response.text() }
    })
    heard.push(answer)
    return answer
  })

  const graphql = (body: unknown) =>
    send("/v1/graphql/", { method: "POST", body: JSON.stringify(body) })
  const obtain = Effect.fnUntraced(function* (input: Wire) {
    const { text } = yield* graphql({ query: obtaining, variables: { input } })
    const got = valueAt(JSON.parse(text), "data.obtainServiceToken")
    const token = String(valueAt(got, "token"))
    const refreshToken = String(valueAt(got, "refreshToken"))
    if (isWire(got)) secrets.push(token, refreshToken)
    return { token, refreshToken }
  })
  const { refreshToken } = yield* obtain({ APIKey: secret })
  const { token } = yield* obtain({ refreshToken })
  const authorization = `Token ${token}`

  let posts = 0
  const post = (path: string, body: unknown) =>
    send(path, {
      method: "POST",
      headers: { authorization, "idempotency-key": secretCanary(`key-${++posts}`) },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  const get = (path: string) => send(path, { headers: { authorization } })
  const patch = (path: string, body: unknown) =>
    send(path, { method: "PATCH", headers: { authorization }, body: JSON.stringify(body) })
  const put = (path: string, body: string) =>
    send(path, {
      method: "PUT",
      headers: { authorization, "content-type": "application/x-ndjson" },
      body
    })

  return {
    put,
    get,
    graphql,
    heard,
    obtain,
    patch,
    post,
    received,
    refreshToken,
    secret,
    secrets,
    send,
    supplier,
    token
  }
})

type Client = Effect.Success<typeof makeClient>

/** What the client sends of one account, each field with a canary. */
const requestsOf = (supplier: string) => {
  const key = { import_supplier: supplier, external_account_number: accountNumber }
  const account = { ...withCanaries(domesticPayload()), ...key }
  const reference = (name: string) => `pm_${secretCanary(name)}`
  const additions: ReadonlyArray<readonly [path: string, body: Wire]> = [
    [`${root}/notes/create/`, { ...withCanaries(notesPayload()), ...key }],
    [`${root}/transactions/create/`, { ...withCanaries(transactionsPayload()), ...key }],
    [`${root}/historical-statements/create/`, { ...withCanaries(statementsPayload()), ...key }],
    [
      `${root}/payment-instruction/create/`,
      { ...instructionPayload(), ...key, reference: reference("good") }
    ]
  ]
  const processing = (dry_run: boolean) => ({
    payload: { ...key, operations_team_name: team, dry_run }
  })
  const lists = ["all", "pending", "imported"].map(
    (kind) => `${root}/${kind}-account-import-processes/${supplier}/`
  )
  const statusPath = `${root}/account-transfer-status/${supplier}/${accountNumber}/`
  const importPath = `${root}/imports/${supplier}/${accountNumber}/`
  const summaryPath = `${root}/suppliers/${supplier}/summary/`

  return {
    account,
    additions,
    importPath,
    key,
    lists,
    processing,
    reference,
    statusPath,
    summaryPath
  }
}

type Requests = ReturnType<typeof requestsOf>

/** Reads all accounts of the supplier, and each by its number. */
const readAccounts = ({ get }: Client, { key }: Requests) =>
  Effect.gen(function* () {
    const { text } = yield* get(`${root}/accounts/?import_supplier=${key.import_supplier}`)
    const numbers = text.match(/(?<="kraken_account_number":")A-[0-9A-F]{8}/g) ?? []
    for (const number of numbers) yield* get(`${root}/accounts/${number}/`)
  })

/** Queries for states, reasons, summaries and events of imports. */
const queriesOf = ({ importPath, key, lists, statusPath, summaryPath }: Requests) => [
  ...lists,
  ...lists.map((list) => `${list}?fields=state,cohort,payload_hash,attempts&cohort=wave`),
  ...lists.map((list) => `${list}?failed=true&code=path_does_not_exist_in_file_store`),
  `${lists[0]}?cohort=zqpersonal&code=${secretCanary("code")}&fields=${secretCanary("fields")}`,
  statusPath,
  importPath,
  summaryPath,
  `${summaryPath}?cohort=zqpersonal`,
  `${root}/suppliers/${key.import_supplier}/configuration/`,
  `${root}/events/?limit=1000`,
  `${root}/limits/`
]

const sound = (client: Client, requests: Requests) => {
  const { get, patch, post } = client
  const { account, additions, importPath, key, processing } = requests
  const queries = Effect.forEach(queriesOf(requests), get)
  const stage = Effect.all([
    post(`${root}/validate-account/`, { payload: account }),
    post(stagePath, { payload: account, cohort: "wave" }),
    post(`${stagePath}?create_only=true`, {
      payload: { ...account, billing_name: "zqpersonal-other" },
      cohort: "zqpersonal".repeat(9)
    }),
    post(`${stagePath}?create_only=true`, {
      payload: { ...account, billing_name: "zqpersonal-other" }
    }),
    patch(importPath, { cohort: "zqpersonal\n" }),
    patch(importPath, { cohort: "wave" }),
    post(`${root}/documents/`, {
      payload: {
        import_supplier: key.import_supplier,
        document_path: `zqpersonal/${secretCanary("path")}.pdf`,
        size: 1,
        sha256: "0".repeat(64)
      }
    })
  ])
  const processed = Effect.andThen(
    post(processPath, processing(true)),
    post(processPath, processing(false))
  )
  const added = Effect.forEach(additions, ([path, body]) => post(path, body))

  return { added, processed, queries, read: readAccounts(client, requests), stage }
}

const awaited = ["customer_email_due-v1", "batch.completed-v1"]

/** Waits until a webhook got events of an account with its e-mail, and of a batch. */
const delivered = ({ received }: Client) =>
  Effect.repeat(Effect.sleep("100 millis"), {
    until: () => awaited.every((name) => received.some((body) => body.includes(name))),
    times: 300
  })

/** Every field holds an invalid canary, because every fault is listed. */
const mutants = ({ post }: Client, { account, additions }: Requests) =>
  Effect.gen(function* () {
    const bodies: ReadonlyArray<readonly [path: string, body: Wire]> = [
      [`${root}/validate-account/`, { payload: account }],
      ...additions
    ]
    for (const [path, body] of bodies) {
      for (const wrong of wrongs) {
        for (const kept of [isKey, isKeyOrKind]) yield* post(path, withEach(body, wrong, kept))
      }
    }
    const [address] = domesticPayload().supply_addresses
    const twice = withCanaries({ supply_addresses: [address, address] })
    yield* post(`${root}/validate-account/`, { payload: { ...account, ...twice } })
  })

const noRequests = (client: Client, { lists }: Requests) =>
  Effect.gen(function* () {
    const { get, graphql, obtain, post, refreshToken, send, token } = client
    const text = secretCanary("text")
    for (const body of [
      `{"payload": "${text}`,
      `"${text}"`,
      `[${text}]`,
      `{"a":"${text}"} ${text}`
    ]) {
      for (const path of [stagePath, `${root}/notes/create/`]) yield* post(path, body)
      yield* send("/v1/graphql/", { method: "POST", body })
    }
    for (const path of [
      `/${text}`,
      `${root}/${text}/`,
      `${lists[0]}?after=${text}&limit=${text}`
    ]) {
      yield* get(path)
    }
    for (const scheme of ["Token", "Basic", ""]) {
      yield* send(lists[0] ?? "", { headers: { authorization: `${scheme} ${text}` } })
    }
    const APIKey = `sk_${text}`
    for (const input of [{ APIKey }, { refreshToken: `rt_${text}` }, { APIKey: [APIKey] }]) {
      yield* obtain(input)
    }
    yield* obtain({ refreshToken })
    yield* graphql({
      query: `mutation { obtainServiceToken(input: {APIKey: ${APIKey}}) { token } }`
    })
    yield* send(stagePath, {
      method: "POST",
      headers: { authorization: `Token ${token}`, "content-type": `text/${text}` },
      body: text
    })
  })

/** A valid line, lines with each field wrong in turn, and lines that are not JSON. */
const linesWith = ({ account }: Requests): string => {
  const numbered = (line: unknown, index: number) =>
    JSON.stringify({ ...(line as Wire), external_account_number: `${accountNumber}-${index}` })
  const texts = [account, ...wrongs.map((wrong) => withEach(account, wrong, isKeyOrKind))]
  const text = secretCanary("line")
  return [...texts.map(numbered), `{"${text}": "${text}`, text, ""].join("\n")
}

/** Errors in results must obey the same rules as other errors. */
const heardOfLines = (path: string, text: string): ReadonlyArray<Heard> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => valueAt(JSON.parse(line), "error"))
    .filter((error) => error !== undefined)
    .map((error) => ({ path, status: 400, text: JSON.stringify(error) }))

/** A batch from its creation to its results, as far as the system lets it get. */
const batch = ({ get, heard, post, put, supplier }: Client, requests: Requests) =>
  Effect.gen(function* () {
    const root = "/v1/data-import/batches/"
    const text = withCanaries({ name: "name", cohort: "cohort" })
    const payload = { ...text, import_supplier: supplier.code, operations_team_name: team }
    const created = yield* post(root, { payload: { ...payload, operation: "IMPORT" } })
    if (created.status !== 201) return
    const path = `${root}${String(valueAt(JSON.parse(created.text), "batch_id"))}/`
    yield* put(`${path}lines/?from_line=${secretCanary("from")}`, "{}")
    const lines = linesWith(requests)
    const received = yield* put(`${path}lines/`, lines)
    if (received.status !== 200) return
    yield* put(`${path}lines/`, lines.replaceAll("zq", "other"))
    const total_lines = Number(valueAt(JSON.parse(received.text), "lines_received"))
    yield* post(`${path}start/`, { payload: { total_lines } })
    yield* Effect.repeat(Effect.delay(get(path), "100 millis"), {
      until: ({ text: found }) => !found.includes('"finished_at":null'),
      times: 30
    })
    const problems = yield* get(`${path}problems/`)
    heard.push({ ...problems, status: 400 })
    const results = yield* get(`${path}results/?done=true`)
    // An NDJSON answer is not an error; the errors in it are checked one by one.
    heard.pop()
    heard.push(...heardOfLines(results.path, results.text))
    yield* get(`${path}results/?outcome=${secretCanary("outcome")}`)
    yield* get(`${root}?import_supplier=${supplier.code}&after=${secretCanary("after")}`)
    yield* post(`${path}cancel/`, secretCanary("body"))
    yield* get(`/v1/data-import/events/?name=${secretCanary("name")}`)
    yield* get(`/v1/data-import/events/?import_supplier=${secretCanary("supplier")}`)
  })

/** The reference decides the answer of a vendor. */
const vendorFailures = ({ post }: Client, { key, reference }: Requests) =>
  Effect.forEach(["refused", "broken", "strange", "credentials"], (name) =>
    post(`${root}/payment-instruction/create/`, {
      ...instructionPayload(),
      ...key,
      reference: reference(name)
    })
  )

export const makeDrive = Effect.gen(function* () {
  const client = yield* makeClient
  const { heard, obtain, received, secret, secrets, supplier } = client
  const requests = requestsOf(supplier.code)
  const { added, processed, queries, read, stage } = sound(client, requests)
  const failing = vendorFailures(client, requests)
  const signedIn = obtain({ APIKey: secret })
  return {
    ...{ heard, received, secrets, supplier },
    stage,
    processed,
    queries,
    delivered: delivered(client),
    added,
    vendorFailures: failing,
    mutants: mutants(client, requests),
    batch: batch(client, requests),
    noRequests: noRequests(client, requests),
    everything: Effect.all([queries, stage, processed, added, read, signedIn, failing])
  }
})

const personalWrong = "zqpersonal wrong"
const wrongs = [personalWrong, { zq: personalWrong }, [personalWrong], `${personalWrong}\0`]

/** The caller's identifiers, which an error may name to show the place. */
const isKey = (name: string) =>
  /(?:^|_)(?:id|key)$|^(?:import_supplier|external_account_number|ledger_code)$/.test(name)
/** Fields that decide which rules apply to the rest of a body. */
const isKeyOrKind = (name: string) => isKey(name) || /(?:^|_)(?:type|vendor)$/.test(name)

const withEach = (
  value: unknown,
  wrong: unknown,
  isKept: (name: string) => boolean,
  name = ""
): unknown => {
  if (isKept(name)) return value
  if (Array.isArray(value)) return value.map((one) => withEach(one, wrong, isKept, name))
  if (!isWire(value)) return wrong
  return Object.fromEntries(
    Object.entries(value).map(([inner, part]) => [inner, withEach(part, wrong, isKept, inner)])
  )
}

/** Runs an effect that may fail, because dependencies fail. Its answers are recorded. */
export const whatever = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), Exit.isSuccess)
