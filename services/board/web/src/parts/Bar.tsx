/** A bar of `value` relative to `most`. It has no text: the cell before it shows the number. */
export const Bar = ({ most, value }: { readonly most: number; readonly value: number }) => (
  <svg class="bar" width="100%" height="10" aria-hidden="true" preserveAspectRatio="none">
    <rect width="100%" height="10" class="rest" />
    <rect width={`${most === 0 ? 0 : (100 * value) / most}%`} height="10" class="part" />
  </svg>
)
