/** Who acted, a person by name or an API key by id, with what else they did. */
import { isPerson, personName } from "@data-import/domain/access/PersonName"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"

export const Who = ({ who }: { readonly who: string }) => (
  <Link to={pages.audit({ who })} class={isPerson(who) ? undefined : "code"}>
    {personName(who)}
  </Link>
)
