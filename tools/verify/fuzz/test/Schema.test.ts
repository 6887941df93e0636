/** The values made from the document's schemas, checked by an independent validator. */
import { readFileSync } from "node:fs"
import { isWire } from "@data-import/domain/testing/wire"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Operation } from "../Document.ts"
import { schemaViolations, valueOf } from "../Schema.ts"
import { bodied, validBody } from "../ValidRequests.ts"

const file = new URL("../openapi.json", import.meta.resolve("@data-import/api/Limits"))

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(JSON.parse(readFileSync(file, "utf8")) as object, "openapi.json")

const validatorOf = ({ method, template }: Operation): ValidateFunction => {
  const path = encodeURIComponent(template.replaceAll("/", "~1"))
  const body = "requestBody/content/application~1json/schema"
  return ajv.compile({ $ref: `openapi.json#/paths/${path}/${method.toLowerCase()}/${body}` })
}

/** The validator does not check these. */
const ofFormats = new Set(["invalid_date", "invalid_datetime", "invalid_email"])

const bodies = bodied.map((asked) => ({
  id: asked.id,
  body: asked.body,
  validate: validatorOf(asked)
}))

describe.each(bodies)("a body of $id", ({ body, id, validate }) => {
  it("is allowed for every made value", () => {
    fc.assert(
      fc.property(valueOf(body).filter(isWire), (value) => {
        expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
      }),
      { numRuns: 8 }
    )
  })

  it("is allowed in the form with which every case begins", () => {
    expect(validate(validBody(id)), JSON.stringify(validate.errors)).toBe(true)
  })

  it("is not allowed with any of the errors", () => {
    const errors = schemaViolations(body ?? {}, validBody(id)).filter(
      ({ code }) => !ofFormats.has(code)
    )
    const allowed = errors.filter((error) => validate(error.body))
    expect(errors.length).toBeGreaterThan(id === "changeImport" ? 1 : 4)
    expect(allowed.map(({ attr, code }) => `${attr} ${code}`)).toEqual([])
  })
})
