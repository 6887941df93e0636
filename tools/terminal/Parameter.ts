/** Values that both commands take, checked while the command line is read. */
import { BatchId } from "@data-import/domain/batches/Batch"
import { CertificateId } from "@data-import/domain/certificates/Certificates"
import { Option, Schema } from "effect"
import { Flag, Param } from "effect/cli"

/**
 * Decodes the text of an argument or a flag, which `metavar` stands for in the help. An invalid one
 * fails with the allowed form.
 */
export const readAs =
  <A>(read: (text: string) => Option.Option<A>, form: string, metavar: string) =>
  <Kind extends Param.ParamKind>(self: Param.Param<Kind, string>): Param.Param<Kind, A> =>
    Param.filterMap(Param.withMetavar(self, metavar), read, () => form)

export const asBatchId = readAs(
  Schema.decodeOption(BatchId),
  "the id of a batch: a UUID in lower case, as batch list prints it",
  "ID"
)

export const asCertificateId = readAs(
  Schema.decodeOption(CertificateId),
  "the id of a certificate: a UUID, as certificate list prints it",
  "ID"
)

/** A flag that is off unless given. */
export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** How many entries a list has at most. */
const asPageSize = readAs(
  (text) => (/^([1-9]\d{0,2}|1000)$/.test(text) ? Option.some(Number(text)) : Option.none()),
  "a whole number from 1 to 1000",
  "N"
)

/** `--limit` of a list that has pages. */
export const pageSize = Flag.String("limit").pipe(
  Flag.withDescription("At most so many, 100 unless given"),
  Flag.withDefault("100"),
  asPageSize
)
