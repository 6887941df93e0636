/** Issues a certificate of all accounts of a migration, or of a cohort. */
import { useState } from "preact/hooks"
import type { Certificate, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { CohortField, useCohorts } from "./CohortField.tsx"

interface Props {
  readonly supplier: string
  /** The cohort that is chosen at first. */
  readonly cohort: string | null
}

/** How many accounts there are to certify; null until it is known, or for a cohort beyond the list. */
const useImported = (supplier: string, cohort: string): number | null => {
  const whole = useAnswer<MigrationDetail>(answers.migration(supplier)).value
  const cohorts = useCohorts(supplier)
  const found = cohort === "" ? whole?.migration : cohorts.find((each) => each.cohort === cohort)
  return found?.states.IMPORTED ?? null
}

const CertificateDialog = ({ close, cohort, supplier }: Props & { close: () => void }) => {
  const act = useAction()
  // The same id makes a retry after a lost answer idempotent: it issues no second certificate.
  const [id] = useState(() => crypto.randomUUID())
  const [named, setNamed] = useState(cohort ?? "")
  const name = named.trim()
  const imported = useImported(supplier, name)
  const run = async () => {
    const body = { certificate_id: id, cohort: name === "" ? null : name }
    const issued = (await act(answers.of(supplier, "certificates/"), body)) as Certificate
    return (
      <p>
        <Link to={pages.certificate(supplier, issued.certificate_id)}>The certificate</Link> is
        being computed. Its page shows how far it is.
      </p>
    )
  }
  const what = imported === null ? "the imported accounts" : counted(imported, "imported account")
  return (
    <ActionDialog
      title={`Issue a certificate of ${supplier}`}
      confirm="Issue the certificate"
      run={run}
      close={close}
    >
      <p>
        A signed record of {what} as they are now: counts, sums, and one hash over all of them. It
        changes nothing, and nothing waits for it. It is kept for ever, and cannot be withdrawn.
      </p>
      <CohortField
        supplier={supplier}
        name="Cohort (empty for all accounts)"
        value={named}
        change={setNamed}
      />
    </ActionDialog>
  )
}

export const CertificateButton = (props: Props) => (
  <ActionButton
    name="Issue a certificate…"
    dialog={(close) => <CertificateDialog {...props} close={close} />}
  />
)
