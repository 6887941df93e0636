/** Breadcrumbs: links from a page to those above it. */
import { Link } from "../routing/Location.tsx"
import { type Page, pages } from "../routing/Paths.ts"

const above = (page: Page): ReadonlyArray<readonly [string, string]> => {
  if (!("supplier" in page)) return []
  const all = ["Migrations", pages.migrations()] as const
  if (page.name === "migration") return [all]
  const one = [page.supplier, pages.migration(page.supplier)] as const
  if (page.name === "lines") return [all, one, ["Batch", pages.batch(page.supplier, page.batch)]]
  if (page.name === "certificate") {
    return [all, one, ["Certificates", pages.certificates(page.supplier)]]
  }
  if (page.name === "wave") return [all, one, ["Waves", pages.waves(page.supplier)]]
  if (page.name !== "account") return [all, one]
  return [all, one, ["Accounts", pages.imports(page.supplier)]]
}

export const Trail = ({ page }: { readonly page: Page }) => {
  const links = above(page)
  return (
    <nav class="trail" aria-label="Above this page">
      {links.map(([name, to]) => (
        <span key={to}>
          <Link to={to}>{name}</Link>
          <span aria-hidden="true"> › </span>
        </span>
      ))}
    </nav>
  )
}
