/** The frame around every page: the user, the path to the page, and the state of the connection. */
import { useEffect } from "preact/hooks"
import { DialogHost } from "./actions/DialogHost.tsx"
import { ProlongButton } from "./actions/ProlongButton.tsx"
import { useRequest } from "./actions/useRequest.ts"
import type { Session } from "./data/Answers.ts"
import { isSignedOut, post } from "./data/Http.ts"
import { listen } from "./data/Changes.ts"
import { refresh, useAnswer } from "./data/Store.ts"
import { SessionEnded, SignedIn } from "./data/User.ts"
import { AccountPage } from "./pages/AccountPage.tsx"
import { AlertsPage } from "./pages/AlertsPage.tsx"
import { AuditPage } from "./pages/AuditPage.tsx"
import { BatchPage } from "./pages/BatchPage.tsx"
import { CertificatePage } from "./pages/CertificatePage.tsx"
import { CertificatesPage } from "./pages/CertificatesPage.tsx"
import { ForecastsPage } from "./pages/ForecastsPage.tsx"
import { ImportsPage } from "./pages/ImportsPage.tsx"
import { LinesPage } from "./pages/LinesPage.tsx"
import { OutcomePage } from "./pages/OutcomePage.tsx"
import { MigrationPage } from "./pages/MigrationPage.tsx"
import { MigrationsPage } from "./pages/MigrationsPage.tsx"
import { ProblemsPage } from "./pages/ProblemsPage.tsx"
import { ProgrammePage } from "./pages/ProgrammePage.tsx"
import { WavesPage } from "./pages/WavesPage.tsx"
import { WavePage } from "./pages/WavePage.tsx"
import { Answered } from "./parts/Answered.tsx"
import { ConnectionBar } from "./parts/ConnectionBar.tsx"
import { Headline } from "./parts/Headline.tsx"
import { NotForSupplier } from "./parts/NotForSupplier.tsx"
import { Time } from "./parts/Time.tsx"
import { Trail } from "./parts/Trail.tsx"
import { Link, useLocation } from "./routing/Location.tsx"
import { answers, type Page, pageAt, pages } from "./routing/Paths.ts"
import { useNow } from "./data/Now.ts"
import { absolute, ownZone } from "./text/Times.ts"

const Content = ({ page }: { readonly page: Page }) => {
  switch (page.name) {
    case "migrations":
      return <MigrationsPage />
    case "migration":
      return <MigrationPage key={page.supplier} supplier={page.supplier} />
    case "problems":
      return <ProblemsPage key={page.supplier} supplier={page.supplier} />
    case "imports":
      return <ImportsPage key={page.supplier} supplier={page.supplier} />
    case "account":
      return (
        <AccountPage
          key={`${page.supplier} ${page.number}`}
          supplier={page.supplier}
          number={page.number}
        />
      )
    case "batch":
      return <BatchPage key={page.batch} supplier={page.supplier} batch={page.batch} />
    case "outcome":
      return <OutcomePage key={page.batch} supplier={page.supplier} batch={page.batch} />
    case "lines":
      return <LinesPage key={page.batch} supplier={page.supplier} batch={page.batch} />
    case "wave":
      return <WavePage key={page.supplier} supplier={page.supplier} />
    case "waves":
      return <WavesPage key={page.supplier} supplier={page.supplier} />
    case "forecasts":
      return <ForecastsPage key={page.supplier} supplier={page.supplier} />
    case "certificates":
      return <CertificatesPage key={page.supplier} supplier={page.supplier} />
    case "certificate":
      return (
        <CertificatePage
          key={page.certificate}
          supplier={page.supplier}
          certificate={page.certificate}
        />
      )
    case "programme":
      return <ProgrammePage />
    case "audit":
      return <AuditPage />
    case "alerts":
      return <AlertsPage />
    case "unknown":
      return (
        <>
          <Headline title="Not found">There is no such page</Headline>
          <Link to={pages.migrations()}>All migrations</Link>
        </>
      )
  }
}

const SignOut = ({ session }: { readonly session: Session }) => {
  const { error, isSending, start } = useRequest(async () => {
    await post(answers.signOut, session.csrf_token)
    location.assign("/board/sign-in/")
  })
  return (
    <>
      {error !== null && (
        <span class="bad" role="alert">
          You are still signed in. {error.message}
        </span>
      )}
      <button type="button" class="plain" disabled={isSending} onClick={start}>
        Sign out
      </button>
    </>
  )
}

const Header = ({ page, session }: { page: Page; session: Session }) => (
  <header>
    <nav aria-label="Board">
      <Link to={pages.migrations()} isCurrent={page.name === "migrations"}>
        Migrations
      </Link>
      <NotForSupplier>
        <Link to={pages.programme()} isCurrent={page.name === "programme"}>
          Programme
        </Link>
        <Link to={pages.audit()} isCurrent={page.name === "audit"}>
          Audit
        </Link>
      </NotForSupplier>
    </nav>
    <div class="user">
      <span>
        {session.name} ({session.role})
        {session.is_prolonged && (
          <>
            {" "}
            until <Time at={session.ends_at} />
          </>
        )}
      </span>
      {session.prolongs_by !== null && <ProlongButton seconds={session.prolongs_by} />}
      <NotForSupplier>
        <Link to={pages.alerts} isCurrent={page.name === "alerts"}>
          Alerts
        </Link>
      </NotForSupplier>
      <SignOut session={session} />
    </div>
  </header>
)

/** The user may have signed in again in another tab. */
const lookAgain = () => void refresh(answers.session, true)

const SignedOut = () => {
  useEffect(() => {
    addEventListener("focus", lookAgain)
    return () => removeEventListener("focus", lookAgain)
  }, [])
  return (
    <main class="alone">
      <Headline title="Sign in">You are not signed in</Headline>
      <p>Sessions end by themselves after a while. Sign in, and you come back to this page.</p>
      <p>
        <a
          class="button"
          href={`/board/sign-in/?to=${encodeURIComponent(location.pathname + location.search)}`}
        >
          Sign in
        </a>
      </p>
      <p class="quiet">
        If you were invited by a link, open it again. On a machine where <code>npm start</code>{" "}
        runs, the terminal shows a link that signs you in.
      </p>
    </main>
  )
}

const Footer = () => {
  const now = useNow()
  return (
    <footer>
      <p>
        Times are in {ownZone()} unless another zone is named.
        <span class="on-paper">
          {" "}
          Printed on <time>{absolute(now, ownZone())}</time>.
        </span>
      </p>
    </footer>
  )
}

interface BoardProps {
  readonly session: Session
  readonly isEnded: boolean
}

/** Once the session has ended, only an open dialog stays, with what was entered. */
const Board = ({ isEnded, session }: BoardProps) => {
  const { path } = useLocation()
  const page = pageAt(path)
  useEffect(listen, [])
  return (
    <SignedIn.Provider value={session}>
      <SessionEnded.Provider value={isEnded}>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <DialogHost>
          {!isEnded && <Header page={page} session={session} />}
          <ConnectionBar />
          {isEnded ? (
            <SignedOut />
          ) : (
            <main id="content">
              <Trail page={page} />
              <Content page={page} />
            </main>
          )}
        </DialogHost>
        <Footer />
      </SessionEnded.Provider>
    </SignedIn.Provider>
  )
}

export const App = () => {
  const answer = useAnswer<Session>(answers.session)
  const isEnded = isSignedOut(answer.error)
  if (isEnded && answer.value === undefined) return <SignedOut />
  return (
    <Answered answer={answer}>
      {(session) => <Board session={session} isEnded={isEnded} />}
    </Answered>
  )
}
