/** The introduction of the document, in Markdown. */
import { mostDocuments } from "@data-import/domain/schema/DocumentPath"
import { maxErrors } from "@data-import/domain/schema/FieldErrors"
import { limits } from "./Limits.ts"
import { mostParameters } from "./Parameter.ts"

const thousands = (value: number) => value.toLocaleString("en-US")

export const introduction = `
A supplier moves its customer accounts onto the platform in three steps: validate an account, stage
it, process it. Afterwards notes, transactions, historical statements and a payment instruction are
added. An account is identified by the pair \`import_supplier\` and \`external_account_number\`
throughout.

## Requests

- JSON in UTF-8, sent as \`Content-Type: application/json\`. Each key once, no byte-order mark.
- Every path ends with a slash; without it the answer is a 308 to the same path with it.
- A field that is not wanted is omitted; \`null\` is taken only where the schema says so. A field
  that is not documented is refused.
- Money and quantities may be sent as numbers or as decimal strings like "12.50". Nothing is
  rounded.
- Dates are \`YYYY-MM-DD\`; datetimes need \`Z\` or an offset, and are answered in UTC.
- "Today" and "in the future" go by the day in the supplier's time zone, which the operator sets;
  UTC unless set.
- Text is trimmed. Lengths count Unicode code points.
- A query parameter that the operation does not document is refused.
- \`HEAD\` answers like \`GET\`, without a body.

## Authentication

\`Authorization: Token <ACCESS_TOKEN>\`; \`Bearer\` is accepted as well. Get a token from the
mutation \`obtainServiceToken\`. \`import:read\` suffices for validate and the queries, every write
needs \`import:write\`, and reading accounts back needs \`account:read\`.

## Errors

Every error has the same envelope: \`detail\` for humans, \`code\` for machines, and \`errors\`
where rules are broken, each with its \`attr\`, the dot path to the offending input. \`detail\` may
change and must not be parsed; a \`code\` never changes. The schemas ErrorCode and FieldErrorCode
list every code with its meaning and remedy. All broken rules are reported together, up to
${thousands(maxErrors)}; where there are more, the first ${thousands(maxErrors)} that were
found are listed, and \`detail\` says so. A method that a path does not have is a 405 whose \`Allow\` header names those
it has.

Send a request again as it is after 409 \`idempotency_key_in_use\`, 429, 500, 503 or a lost answer;
after any other error, correct it first.

## Retries

A write may be repeated safely, but for transactions with \`check_previously_added=false\`, which
are then added again. Send the header \`Idempotency-Key\`, one key for each request, and the write
takes effect once: a repeat with the same path, query and body is answered as the first time, with
\`Idempotency-Replayed: true\`. Answers are kept for 24 hours. What stored nothing (a refusal, a dry
run, items that were all there) is not kept and runs anew. The same key with another request is 422
\`idempotency_key_reused\`; while the first request runs, it is a 409 \`idempotency_key_in_use\`.

Every answer carries \`X-Request-Id\`.

## Limits

- Body: ${thousands(limits.body_bytes)} bytes.
- Nesting: ${limits.nesting_depth} levels; the outermost object is the first.
- List: ${thousands(limits.list_elements)} elements; as many members in an object of free shape.
- Documents: ${thousands(mostDocuments)} different paths in a request.
- Query: ${mostParameters} parameters.
- \`import_supplier\`: ${limits.import_supplier_length} characters.
- \`external_account_number\`: ${limits.external_account_number_length} characters.

Accounts processed at once may be limited; beyond it the answer is 429, with \`Retry-After\`.

## Evolution

Endpoints, fields and codes may be added; none changes its meaning.
`.trim()
