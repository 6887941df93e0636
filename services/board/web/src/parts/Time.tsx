/** An instant relative to now. Hover and focus show the absolute time with its zone. */
import { useNow } from "../data/Now.ts"
import { absolute, ownZone, relative } from "../text/Times.ts"

interface Props {
  readonly at: string
  readonly zone?: string
}

export const Time = ({ at, zone = ownZone() }: Props) => {
  const now = useNow()
  const instant = Date.parse(at)
  return (
    <time class="tip" dateTime={at} tabIndex={0} data-tip={absolute(instant, zone)}>
      <span class="of-now">{relative(instant, now)}</span>
      <span class="hidden">
        <span class="of-now">, </span>
        {absolute(instant, zone)}
      </span>
    </time>
  )
}
