/** Answers that a browser saves as files. */
import { HttpServerResponse } from "effect/http"
import type * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { supplierOf } from "@data-import/server/routing/PathNames"

/** Supplier codes may have any character; file names only those safe in every system and header. */
export const nameOf = (call: Pick<Call, "params">, what: string): string =>
  `${supplierOf(call).replaceAll(/[^\w.-]/g, "_")}-${what}`

/** The header of a file to download. */
export const header = (name: string) => ({
  "content-disposition": `attachment; filename="${name}"`
})

export const text = (content: string, contentType: string, name: string) =>
  HttpServerResponse.text(content, {
    contentType,
    headers: header(name)
  }) as Answer.Response<200, string>

export const csv = (content: string, name: string) => text(content, "text/csv; charset=utf-8", name)

const bytesOf = (contentType: string) => (bytes: Uint8Array, name: string) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType,
    headers: header(name)
  }) as Answer.Response<200, Uint8Array>

export const pdf = bytesOf("application/pdf")

export const sheet = bytesOf("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
