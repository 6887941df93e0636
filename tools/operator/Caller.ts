/** Who changes something by an operator command, for the audit log. */
import {
  ApiKeyId,
  type Caller,
  type OrganisationName,
  RequestId
} from "@data-import/domain/organisation/Organisation"

const operatorKey = ApiKeyId.make("operator")

/** The operator, who changes something of this organisation; each command is a request of its own. */
export const operatorFor = (organisation: OrganisationName): Caller => ({
  organisation,
  apiKey: operatorKey,
  scopes: [],
  requestId: RequestId.make(crypto.randomUUID())
})
