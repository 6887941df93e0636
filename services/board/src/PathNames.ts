/** What the path of a request names; checked by the programs, which report it as unknown. */
import type { Call } from "@data-import/server/http/IncomingRequest"

type Asking = Pick<Call, "params">

export const supplierOf = ({ params }: Asking): string => params["import_supplier"] ?? ""

export const numberOf = ({ params }: Asking): string => params["external_account_number"] ?? ""

export const batchOf = ({ params }: Asking): string => params["batch_id"] ?? ""
