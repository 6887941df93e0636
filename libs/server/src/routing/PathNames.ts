/** The names in the path of a request, not validated: the programs report unknown ones. */
import type { Call } from "../http/IncomingRequest.ts"

type Asking = Pick<Call, "params">

export const supplierOf = ({ params }: Asking): string => params["import_supplier"] ?? ""

export const numberOf = ({ params }: Asking): string => params["external_account_number"] ?? ""

export const batchOf = ({ params }: Asking): string => params["batch_id"] ?? ""

export const certificateOf = ({ params }: Asking): string => params["certificate_id"] ?? ""

export const moveOf = ({ params }: Asking): string => params["move_id"] ?? ""

export const invitationOf = ({ params }: Asking): string => params["invitation_id"] ?? ""
