/** Reads the supplier that a payload names, whatever else is in it. */
import { Option } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import type { WireCode } from "./Supplier.ts"
import { decoderOf } from "../schema/Decoder.ts"
import { invalid } from "../schema/LeafDecoder.ts"

const readSupplierCode = decoderOf(SupplierCodeField)

/** None if the name is no valid code. */
export const namedSupplier = (payload: unknown): Option.Option<WireCode> => {
  if (typeof payload !== "object" || payload === null) return Option.none()
  const named = readSupplierCode("import_supplier" in payload ? payload.import_supplier : undefined)
  return named === invalid ? Option.none() : Option.some(named as WireCode)
}
