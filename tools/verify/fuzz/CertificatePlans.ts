/** The fixed cases of certificates: parameters, names, and who may see balances. */
import { get, type Plan, plan, post } from "./Case.ts"
import { fixedCertificate } from "./CertificateSetup.ts"
import { operation, operations } from "./Document.ts"
import { answers, both, errors, hasLength } from "./Expectation.ts"
import { imported, rivalSupplier, supplier } from "./TenantNames.ts"
import { pathOf, validRequest } from "./ValidRequests.ts"

const root = pathOf(operation("issueCertificate"))
const own = `${root}${fixedCertificate}/`

const ofOne = operations.filter(({ template }) => template.includes("{certificate_id}"))

const notFound = answers("404 not_found")

const named: ReadonlyArray<Plan> = ofOne.flatMap((asked) => {
  const valid = validRequest(asked)
  const path = (name: string) => valid.path.replace(fixedCertificate, () => name)
  return [
    plan(asked.id, "who", "a rival", [{ ...valid, who: "rival" }, notFound]),
    ...["0f0f0f0f-0000-4000-8000-0000000000c2", `${fixedCertificate}%00`, "00", "%2e%2e"].map(
      (name) => plan(asked.id, "path", `the certificate ${name}`, [get(path(name)), notFound])
    )
  ]
})

const queryErrors: ReadonlyArray<readonly [id: string, query: string, error: string]> = [
  ["listCertificates", "limit=1", "import_supplier required"],
  ["listCertificates", `import_supplier=${supplier}&before=%00`, "before invalid"],
  ["listCertificateHashes", "level=41", "level max_value"],
  ["listCertificateHashes", "level=-1", "level min_value"],
  ["listCertificateHashes", "from=1000000001", "from max_value"],
  ["listCertificateHashes", "limit=1001", "limit max_value"]
]

const jose = { headers: [["accept", "application/jose"]] } as const

export const certificatePlans: ReadonlyArray<Plan> = [
  ...named,
  ...queryErrors.map(([id, query, error]) =>
    plan(id, "mutant", query, [
      get(`${pathOf(operation(id))}?${query}`),
      errors("400 request_failed_validation", error)
    ])
  ),
  ...["NOBODY", rivalSupplier].map((code) =>
    plan("listCertificates", "state", `the supplier ${code}`, [
      get(`${root}?import_supplier=${code}`),
      notFound
    ])
  ),
  plan("listCertificates", "state", "a page before none", [
    get(`${root}?import_supplier=${supplier}&before=x`),
    both(answers("200"), hasLength("", 0))
  ]),
  ...[0, 8, 40].map((level) =>
    plan("listCertificateHashes", "state", `beyond level ${level}`, [
      get(`${own}hashes/?level=${level}&from=1000000000`),
      both(answers("200"), hasLength("", 0))
    ])
  ),
  plan("listCertificateHashes", "state", "the root", [
    get(`${own}hashes/?level=40`),
    both(answers("200"), hasLength("", 1))
  ]),
  plan("getCertificateProof", "state", "an account that is not certified", [
    get(`${own}proofs/nobody/`),
    notFound
  ]),
  ...[`proofs/${imported[0]}/`, "hashes/"].map((rest) =>
    plan(rest === "hashes/" ? "listCertificateHashes" : "getCertificateProof", "who", "a reader", [
      { ...get(`${own}${rest}`), who: "reader" },
      answers("403 permission_denied")
    ])
  ),
  plan("getCertificate", "who", "the record for a reader", [
    { ...get(own), ...jose, who: "reader" },
    answers("403 permission_denied")
  ]),
  plan("issueCertificate", "who", "a key that may not read accounts", [
    { ...post(root, { payload: { import_supplier: supplier } }), who: "writer" },
    answers("403 permission_denied")
  ])
]
