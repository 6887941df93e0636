import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import { describe, expect, it } from "vitest"
import { registry } from "@data-import/domain/codes/Code"
import { Api } from "../src/Api.ts"
import { BatchGroup } from "../src/BatchApi.ts"
import { document, documentOf } from "../src/OpenApiDocument.ts"
import { limits } from "../src/Limits.ts"
import { knownValues } from "../src/ExtensibleResponses.ts"
import { closed } from "../testing/ResponseCheck.ts"

type Json = { readonly [key: string]: unknown }

const published = document()

/** The document of the whole API; `Api` includes the batches already. */
const spec = documentOf(Api.add(BatchGroup))

const matching = (form: RegExp): unknown => expect.stringMatching(form)

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

/** Every object of the document with its JSON pointer. */
const walk = (
  value: unknown,
  pointer: string,
  visit: (value: Json, pointer: string) => void
): void => {
  if (!isObject(value)) return
  visit(value, pointer)
  for (const [key, part] of Object.entries(value)) {
    walk(part, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, visit)
  }
}

const resolve = (pointer: string): unknown =>
  pointer
    .replace("#/", "")
    .split("/")
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), spec)

const deref = (value: unknown): Json => {
  const target =
    isObject(value) && typeof value["$ref"] === "string" ? resolve(value["$ref"]) : value
  if (!isObject(target)) throw new Error(`Nothing at ${JSON.stringify(value)}`)
  return target
}

const operations = Object.entries(spec["paths"] as Record<string, Record<string, Json>>).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method} ${path}`, operation] as const)
)

const answersOf = (operation: Json) =>
  Object.entries(operation["responses"] as Json).map(
    ([status, answer]) => [Number(status), deref(answer)] as const
  )

/** The media type of a body with its name; undefined if there is no body. */
const mediaType = (holder: unknown): readonly [name: string, media: Json] | undefined => {
  const { content } = isObject(holder) ? deref(holder) : {}
  return isObject(content) ? (Object.entries(content)[0] as [string, Json]) : undefined
}

const examplesOf = (holder: unknown): Json => (mediaType(holder)?.[1]["examples"] ?? {}) as Json

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(closed(spec) as object, "openapi.json")

/** Ajv's errors for `value` by the schema at a pointer of the document. */
const complaints = (pointer: string, value: unknown): ReadonlyArray<string> => {
  const validate = ajv.compile({ $ref: `openapi.json#${pointer}` })
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe("the OpenAPI document", () => {
  it("matches the committed openapi.json", () => {
    const committed = readFileSync(new URL("../openapi.json", import.meta.url), "utf8")
    expect(JSON.parse(committed), "run `node tools/openapi.ts`").toEqual(published)
    expect(committed).toBe(`${JSON.stringify(published, null, 2)}\n`)
  })

  it("is the same each time it is generated", () => {
    expect(JSON.stringify(document())).toBe(JSON.stringify(published))
  })

  it("is valid OpenAPI 3.1 with title, version, description and license", () => {
    expect(spec["openapi"]).toMatch(/^3[.]1[.]\d+$/)
    expect(spec["info"]).toMatchObject({
      title: matching(/./),
      version: matching(/^\d+[.]\d+[.]\d+$/),
      description: matching(/./),
      license: { name: "MIT" }
    })
  })

  it("has only references that resolve", () => {
    const dangling: Array<string> = []
    walk(spec, "#", ({ $ref }, pointer) => {
      if (typeof $ref === "string" && !isObject(resolve($ref))) dangling.push(`${pointer}: ${$ref}`)
    })
    expect(dangling).toEqual([])
  })

  it("has only components that are referenced, apart from the shared ones", () => {
    const used = new Set<string>()
    walk(spec, "#", ({ $ref }) => {
      if (typeof $ref === "string") used.add($ref)
    })
    const unused: Array<string> = []
    for (const [kind, parts] of Object.entries(spec["components"] as Record<string, Json>)) {
      if (kind === "securitySchemes") continue
      for (const name of Object.keys(parts)) {
        if (!used.has(`#/components/${kind}/${name}`)) unused.push(`${kind}/${name}`)
      }
    }
    expect(unused).toEqual(["responses/MethodNotAllowed"])
  })

  it("states the limits that the service enforces", () => {
    expect(spec["x-limits"]).toEqual(limits)
    expect(limits).toEqual({
      body_bytes: 10_485_760,
      nesting_depth: 32,
      list_elements: 10_000,
      import_supplier_length: 32,
      external_account_number_length: 128,
      batch_lines: 1_000_000,
      batch_bytes: 8_589_934_592,
      batch_line_bytes: 10_485_760,
      unfinished_batches: 20,
      unfinished_batch_bytes: 34_359_738_368
    })
  })

  it("explains every code of the registry", () => {
    const explained = ["ErrorCode", "FieldErrorCode"].flatMap((name) => {
      const schema = deref({ $ref: `#/components/schemas/${name}` })
      expect(Object.keys(schema["x-codes"] as Json), name).toEqual(schema[knownValues])
      return schema[knownValues] as ReadonlyArray<string>
    })
    expect([...new Set(explained)].sort()).toEqual(Object.keys(registry).sort())
  })

  it("names the parameters of every code that has any", () => {
    const explained = deref({ $ref: "#/components/schemas/FieldErrorCode" })["x-codes"] as Json
    for (const [code, entry] of Object.entries(explained)) {
      const { parameters } = registry[code as keyof typeof registry]
      expect((entry as Json)["parameters"] ?? [], code).toEqual(parameters)
    }
  })

  it("allows unknown fields and values in responses, but not in requests", () => {
    const seen = new Set<string>()
    const closedIn = (holder: unknown, found: Array<string> = []): ReadonlyArray<string> => {
      walk(holder, "", (schema, pointer) => {
        const { $ref } = schema
        if (pointer.includes("/examples/")) return
        if (Array.isArray(schema["enum"])) found.push(`${pointer} enum`)
        if (schema["additionalProperties"] === false) found.push(`${pointer} closed`)
        if (isObject(schema["properties"]) && schema["additionalProperties"] === undefined) {
          found.push(`${pointer} open`)
        }
        if (typeof $ref !== "string" || seen.has($ref)) return
        seen.add($ref)
        closedIn(resolve($ref), found)
      })
      return found
    }
    const answers = closedIn(operations.map(([, operation]) => operation["responses"]))
    expect(answers.filter((place) => !place.endsWith("open"))).toEqual([])
    seen.clear()
    const requests = closedIn(operations.map(([, operation]) => operation["requestBody"]))
    expect(requests.filter((place) => place.endsWith("open"))).toEqual([])
    expect(requests.length).toBeGreaterThan(10)
  })

  it("has a schema and a description for every field", () => {
    const bare: Array<string> = []
    walk(spec, "", (schema, pointer) => {
      if (!isObject(schema["properties"]) || pointer.includes("/examples/")) return
      for (const [name, field] of Object.entries(schema["properties"])) {
        const { description } = deref(field)
        const text = isObject(field) ? (field["description"] ?? description) : undefined
        const isErrorCode = name === "code" && isObject(field) && Array.isArray(field[knownValues])
        if (typeof text !== "string" && !isErrorCode) bare.push(`${pointer}/${name}`)
        if (isObject(field) && Object.keys(field).every((key) => key === "description")) {
          bare.push(`${pointer}/${name} (any value)`)
        }
      }
    })
    expect(bare).toEqual([])
  })

  it("bounds the digits of single amounts only, and of no sum", () => {
    const bounded: Array<string> = []
    walk(spec, "", (value, pointer) => {
      if (value["$ref"] === "#/components/schemas/AmountText") bounded.push(pointer)
    })
    expect(bounded.map((pointer) => pointer.split("/").at(-1))).toEqual(["amount", "amount"])
  })

  it("states the lengths that the domain enforces", () => {
    const lengths = Object.entries({
      Account: { external_account_number: 128, billing_name: 510, import_supplier: 32 },
      Transaction: { transaction_id: 128, display_note: 2_000 },
      Note: { body: 10_000 },
      Customer: { title: 20 }
    })
    for (const [name, fields] of lengths) {
      const { properties } = deref({ $ref: `#/components/schemas/${name}` })
      for (const [field, maxLength] of Object.entries(fields)) {
        expect((properties as Json)[field], `${name}.${field}`).toMatchObject({ maxLength })
      }
    }
  })
})

describe.each(operations)("%s", (where, operation) => {
  const at = where.replace(/^(\w+) (.*)$/, (_, method: string, path: string) => {
    return `/paths/${encodeURIComponent(path.replaceAll("/", "~1"))}/${method}`
  })

  it("has a name, a summary, a description and a described tag", () => {
    expect(operation).toMatchObject({
      operationId: matching(/^[a-z][A-Za-z]+$/),
      summary: matching(/./),
      description: matching(/[.]$/)
    })
    const tags = (spec["tags"] as ReadonlyArray<Json>).map(({ name }) => name)
    expect(tags).toEqual(expect.arrayContaining(operation["tags"] as Array<string>))
  })

  it("describes every parameter with a schema and an example", () => {
    for (const parameter of (operation["parameters"] as ReadonlyArray<unknown>).map(deref)) {
      expect(parameter).toMatchObject({
        name: matching(/./),
        description: matching(/[.]$/),
        schema: { type: matching(/./) }
      })
      const schema = ajv.compile(parameter["schema"] as Json)
      expect(schema(parameter["example"]), `${String(parameter["name"])}: example`).toBe(true)
    }
  })

  it("describes every response: a success, and errors with their codes", () => {
    const answers = answersOf(operation)
    const statuses = answers.map(([status]) => status)
    expect(statuses.some((status) => status >= 200 && status < 300)).toBe(true)
    expect(statuses.some((status) => status >= 400 && status < 500)).toBe(true)
    for (const [status, answer] of answers) {
      expect(answer["description"], String(status)).toMatch(/./)
      expect(answer["headers"], String(status)).toHaveProperty("X-Request-Id")
      const examples = examplesOf(answer)
      const hasExamples = Object.keys(examples).length > 0
      expect(hasExamples, `examples of ${status}`).toBe(status !== 304)
      if (status < 400) continue
      for (const example of Object.values(examples).map(deref)) {
        expect(registry).toHaveProperty(String((example["value"] as Json)["code"]))
      }
    }
  })

  it("describes retries and authentication", () => {
    for (const [status, { headers }] of answersOf(operation)) {
      if (status === 401) expect(headers).toHaveProperty("WWW-Authenticate")
      if (status === 429 || status === 503) expect(headers).toHaveProperty("Retry-After")
    }
  })

  it("has only examples that match their schemas", () => {
    const complaintsOf = (holder: unknown, place: string) => {
      const [type = ""] = mediaType(holder) ?? []
      const schema = `${place}/content/${encodeURIComponent(type.replaceAll("/", "~1"))}/schema`
      return Object.entries(examplesOf(holder)).flatMap(([name, example]) =>
        complaints(schema, deref(example)["value"]).map((complaint) => `${name}: ${complaint}`)
      )
    }
    expect(complaintsOf(operation["requestBody"], `${at}/requestBody`)).toEqual([])
    for (const [status, answer] of Object.entries(operation["responses"] as Json)) {
      const isShared = isObject(answer) && typeof answer["$ref"] === "string"
      const place = isShared ? String(answer["$ref"]).slice(1) : `${at}/responses/${status}`
      expect(complaintsOf(answer, place), status).toEqual([])
    }
  })
})
