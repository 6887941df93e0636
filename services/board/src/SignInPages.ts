/**
 * The few pages that the service makes itself: how to sign in, and why that did not work. They need
 * no script.
 */
import { readFileSync } from "node:fs"
import { HttpServerResponse } from "effect/http"
import { type File, forEver, hashOf } from "@data-import/server/routing/PublishedFile"

/** Allows nothing from other origins, nothing inline, and no framing. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; " +
  "form-action 'self'; frame-ancestors 'none'"

/** The headers of every page of the board. */
export const pageHeaders = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const style = readFileSync(new URL("../assets/sign-in.css", import.meta.url), "utf8")

export const stylesheet: File = {
  path: `/board/sign-in/style.${hashOf(style)}.css`,
  text: style,
  contentType: "text/css; charset=utf-8",
  headers: forEver
}

const page = (status: number, title: string, body: string) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/board/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${stylesheet.path}">
<main>
<h1>${title}</h1>
${body}
</main>
</html>
`,
    {
      status,
      contentType: "text/html; charset=utf-8",
      headers: { ...pageHeaders, "cache-control": "no-store" }
    }
  )

const howToGetLink =
  "<p>On the machine of the system, <code>operator board link</code> prints one.</p>"

/** `start` is the address that starts the sign-in; null if only sign-in links work. */
export const signIn = (start: string | null) =>
  page(
    200,
    "Migration board",
    start === null
      ? `<p>Open a sign-in link on this machine.</p>\n${howToGetLink}`
      : `<p><a class="button" href="${start.replaceAll("&", "&amp;")}">Sign in</a></p>`
  )

/** A link preview presses no button, so it does not use up the link. */
export const useLink = () =>
  page(
    200,
    "Migration board",
    `<form method="post"><button>Sign in as the operator of this machine</button></form>`
  )

const invitation = "Migration board: an invitation"

/** The same of an invitation. */
export const useInvitation = () =>
  page(
    200,
    invitation,
    "<p>You are invited to see how the migration of your accounts is going, and what is to be " +
      "corrected. This link is for you alone: keep it, and do not pass it on.</p>\n" +
      `<form method="post"><button>See the migration</button></form>`
  )

export const invitationRefused = () =>
  page(
    403,
    "This invitation is no longer valid",
    "<p>It was revoked or has expired. Ask who invited you for another one.</p>"
  )

export const invitationWithoutHttps = () =>
  page(
    403,
    "Invitations need a public address",
    "<p>Set BOARD_PUBLIC_URL, or open the link on the machine on which the system runs.</p>"
  )

export const linkRefused = () =>
  page(
    403,
    "This link is no longer valid",
    `<p>A link works once, and for ten minutes.</p>\n${howToGetLink}`
  )

export const linkElsewhere = () =>
  page(
    403,
    "Sign-in links work on one machine only",
    "<p>Open the link on the machine on which the system runs.</p>"
  )

export const foreign = () =>
  page(
    403,
    "Open the link in a new tab",
    "<p>The request came from another site, and was not carried out.</p>"
  )

const again = `<p><a class="button" href="/board/sign-in/">Back</a></p>`

export const withoutRole = () =>
  page(
    403,
    "You have no role on this board",
    "<p>You are known, but may see nothing here. Ask whoever gives out roles in your organisation's " +
      `sign-in for the role viewer, manager or supplier of the migration board.</p>\n${again}`
  )

export const signInFailed = () =>
  page(403, "Signing in did not work", `<p>Nothing was changed. Try it once more.</p>\n${again}`)

export const signInAway = () =>
  page(
    503,
    "Signing in is not possible right now",
    `<p>The sign-in of your organisation does not answer. Try again in a minute.</p>\n${again}`
  )
