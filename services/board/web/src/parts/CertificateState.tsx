/** How a certificate stands: its progress, or why there is none and what to do. */
import type { Certificate } from "../data/Answers.ts"
import { progressOf, standingOf } from "../text/Certificates.ts"

export const CertificateState = ({ certificate }: { readonly certificate: Certificate }) => {
  const { failed, progress } = certificate
  const standing = standingOf(certificate)
  const said = progressOf(certificate)
  return (
    <>
      <span class={standing.class}>{standing.word}</span>
      {progress !== null && (
        <>
          {" "}
          <progress
            max={Math.max(1, progress.total)}
            value={progress.done}
            aria-label={`${said} are done`}
          />{" "}
          <small class="share">{said}</small>
        </>
      )}
      {failed !== null && (
        <small>
          {" "}
          {failed.why} <b>{failed.remedy}</b>
        </small>
      )}
    </>
  )
}
