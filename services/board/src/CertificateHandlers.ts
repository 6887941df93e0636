/** The certificates of the board over HTTP. Their files have sums, and are for managers. */
import { Effect } from "effect"
import { joseType } from "@data-import/api/CertificateApi"
import { RoleRefused } from "@data-import/api/Refusal"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { certificateDocument } from "@data-import/domain/board/CertificateDocument"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { certificateOf, supplierOf } from "@data-import/server/routing/PathNames"
import * as Files from "./Files.ts"
import type { Signed } from "./Guard.ts"
import { pdfOf } from "./print/Pdf.ts"

type Asking = Pick<Call, "params"> & Signed

interface Listing extends Asking {
  readonly parameters: {
    readonly cohort?: string
    readonly before?: string
    readonly limit?: number
  }
}

const ofPage = 100

export const handlers = Effect.map(CertificateBoard, (certificates) => {
  const file = <A>(
    call: Asking,
    extension: string,
    make: (
      signed: Effect.Success<ReturnType<typeof certificates.signed>>,
      name: string
    ) => Effect.Effect<A>
  ) => {
    const { user } = call.session
    if (user.role !== "manager") return Effect.fail(new RoleRefused())
    const id = certificateOf(call)
    const name = Files.nameOf(call, `certificate-${id.slice(0, 8)}.${extension}`)
    return Effect.flatMap(certificates.signed(user, supplierOf(call), id), (signed) =>
      make(signed, name)
    )
  }

  return {
    listBoardCertificates: (call: Listing) => {
      const { limit = ofPage, ...filter } = call.parameters
      const found = certificates.list(call.session.user, supplierOf(call), { ...filter, limit })
      return Effect.map(found, (page) => Answer.json(200, page))
    },
    getBoardCertificate: (call: Asking) =>
      Effect.map(
        certificates.find(call.session.user, supplierOf(call), certificateOf(call)),
        (found) => Answer.json(200, found)
      ),
    exportCertificate: (call: Asking) =>
      file(call, "json", ({ content }, name) =>
        Effect.succeed(Files.text(JSON.stringify(content, null, 2), "application/json", name))
      ),
    exportSignedCertificate: (call: Asking) =>
      file(call, "jws", ({ jws }, name) => Effect.succeed(Files.text(jws, joseType, name))),
    printCertificate: (call: Asking) =>
      file(call, "pdf", (signed, name) =>
        Effect.map(pdfOf(certificateDocument(signed)), (bytes) => Files.pdf(bytes, name))
      )
  }
})
